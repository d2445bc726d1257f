"""Every form, in onnxruntime, gives what the hooks of its encoding give: at other lengths, places and paddings."""

import functools
from pathlib import Path
from typing import Literal

import pytest
import torch
from torch import Tensor, nn

from gnomon.encodings import (
    FIRE,
    KERPLE,
    ALiBi,
    CoPE,
    DeBERTa,
    Learned,
    MRoPE,
    NoPE,
    PositionEncoding,
    RandomizedPositions,
    Rotary,
    Sandwich,
    Shaw,
    Sinusoidal,
    T5Bias,
    TransformerXL,
    XPos,
)
from gnomon.exporting.audit import require_plain_numbers
from gnomon.exporting.forms.base import form_of
from gnomon.exporting.options import ExportOptions
from gnomon.exporting.replacing import with_forms
from gnomon.exporting.result import Case
from gnomon.exporting.tracing import trace
from tests.helpers.hook_graphs import HEAD_DIM, HEADS, HookGraph, run, unchecked_annotations

LENGTH = 40
ROTATIONS: dict[str, PositionEncoding] = {
    "rotary_half": Rotary(8),
    "rotary_interleaved": Rotary(8, layout="interleaved", rotary_dim=6),
    "rotary_yarn": Rotary(8, frequencies={"kind": "yarn", "factor": 4.0, "original_max_length": 64}),
    "xpos": XPos(8, max_length=LENGTH, scale_base=32.0),
    "randomized": RandomizedPositions(Rotary(8), max_length=LENGTH, span=200, seed=3),
}
OTHERS: dict[str, PositionEncoding] = {
    "mrope": MRoPE(8, sections=(2, 1, 1)),
    "sinusoidal": Sinusoidal(16, padding_offset=2),
    "learned": Learned(LENGTH, 16, padding_offset=2),
    "nope": NoPE(),
    "alibi": ALiBi(HEADS),
    "alibi_causal": ALiBi(HEADS, form="causal"),
    "alibi_asymmetric": ALiBi(HEADS, form="asymmetric"),
    "t5": T5Bias(HEADS, num_buckets=8, max_distance=12),
    "t5_causal": T5Bias(HEADS, num_buckets=8, max_distance=12, direction="causal"),
    "kerple": KERPLE(HEADS),
    "kerple_power": KERPLE(HEADS, form="power"),
    "fire": FIRE(HEADS, threshold=4.0),
    "sandwich": Sandwich(HEADS),
    "shaw": Shaw(HEADS, HEAD_DIM, max_distance=(4, 2)),
    "deberta": DeBERTa(HEADS, HEAD_DIM, dim=6, max_distance=5),
    "deberta_buckets": DeBERTa(HEADS, HEAD_DIM, dim=6, max_distance=14, buckets=4, norm_eps=1e-5),
    "deberta_c2p": DeBERTa(HEADS, HEAD_DIM, dim=6, max_distance=5, terms=["c2p"]),
    "cope": CoPE(HEADS, HEAD_DIM, max_positions=4),
    "transformer_xl": TransformerXL(HEADS, HEAD_DIM, dim=6),
    "transformer_xl_clamped": TransformerXL(HEADS, HEAD_DIM, dim=6, clamp_length=5),
}
CASES = (Case(1, 7), Case(3, 19), Case(3, 7, first=9), Case(3, 19, first=5, padding=3), Case(1, 1, first=4))


def redrawn(encodings: dict[str, PositionEncoding]) -> HookGraph:
    """Weights that leave traces; the usual ones are too small to see."""
    generator = torch.Generator().manual_seed(5)
    for parameter in (p for encoding in encodings.values() for p in encoding.parameters()):
        nn.init.uniform_(parameter, 0.1, 1.0, generator=generator)
    return HookGraph(encodings)


def traced(graph: HookGraph, options: ExportOptions, path: Path) -> Path:
    replaced, _ = with_forms(graph, options)
    assert isinstance(replaced, HookGraph)
    with unchecked_annotations():
        trace(replaced, options, path)
    require_plain_numbers(path)
    return path


@pytest.fixture(scope="module")
def arithmetic(tmp_path_factory: pytest.TempPathFactory) -> tuple[HookGraph, Path]:
    graph = redrawn({**ROTATIONS, **OTHERS})
    return graph, traced(graph, ExportOptions(max_length=LENGTH), tmp_path_factory.mktemp("forms") / "hooks.onnx")


@pytest.fixture(scope="module")
def operators(tmp_path_factory: pytest.TempPathFactory) -> tuple[HookGraph, Path]:
    graph = redrawn(ROTATIONS)
    options = ExportOptions(rotary="operator", max_length=LENGTH)
    return graph, traced(graph, options, tmp_path_factory.mktemp("forms") / "operators.onnx")


@pytest.mark.parametrize("name", [*ROTATIONS, *OTHERS])
def test_a_form_is_its_encoding(arithmetic: tuple[HookGraph, Path], name: str) -> None:
    compare(*arithmetic, name)


@pytest.mark.parametrize("name", ROTATIONS)
def test_the_operator_is_its_encoding(operators: tuple[HookGraph, Path], name: str) -> None:
    compare(*operators, name)


def compare(graph: HookGraph, path: Path, name: str) -> None:
    for case in CASES:
        expected, found = both(graph, path, case)
        names = [key for key in expected if key.startswith(f"{name}.")]
        assert (name == "nope") == (not names)
        for key in names:
            torch.testing.assert_close(found[key], expected[key].expand_as(found[key]), atol=1e-5, rtol=1e-5)


@functools.cache
def both(graph: HookGraph, path: Path, case: Case) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
    """What the encodings give, and what onnxruntime does."""
    given = graph.draw(case, seed=1)
    with torch.no_grad():
        return graph.named(*given.values()), run(path, given)


@pytest.mark.parametrize("position", [-1, LENGTH, -LENGTH - 1, 10**9])
def test_a_position_outside_a_table_is_an_error_of_the_runtime(
    arithmetic: tuple[HookGraph, Path], operators: tuple[HookGraph, Path], position: int
) -> None:
    for graph, path in (arithmetic, operators):
        given = graph.draw(Case(2, 5), seed=1)
        given["positions"][1, 3] = position
        with pytest.raises(Exception, match="out of data bounds"):
            run(path, given)


def test_a_coordinate_outside_the_table_is_an_error_too(arithmetic: tuple[HookGraph, Path]) -> None:
    graph, path = arithmetic
    given = graph.draw(Case(2, 5), seed=1)
    given["coordinates"][1, 3] = torch.tensor([0, LENGTH, 0])
    with pytest.raises(Exception, match="out of data bounds"):
        run(path, given)


@pytest.mark.parametrize("position", [-1, LENGTH])
@pytest.mark.parametrize("name", ["learned", "sinusoidal"])
def test_a_form_itself_raises_outside_its_table(name: str, position: int) -> None:
    form = form_of(OTHERS[name], ExportOptions(max_length=LENGTH))
    with pytest.raises(IndexError):
        form.embed(torch.zeros(1, 1, 16), torch.tensor([[position]]))


@pytest.mark.parametrize("position", [-1, LENGTH])
@pytest.mark.parametrize("rotary", ["arithmetic", "operator"])
def test_a_rotation_itself_raises_outside_its_table(rotary: Literal["arithmetic", "operator"], position: int) -> None:
    form = form_of(ROTATIONS["rotary_half"], ExportOptions(max_length=LENGTH, rotary=rotary))
    with pytest.raises(IndexError):
        form.rotate_key(torch.zeros(1, 1, 1, 8), torch.tensor([[position]]))


def test_distances_beyond_the_table_of_t5_are_clamped_as_its_buckets_are() -> None:
    encoding = T5Bias(HEADS, num_buckets=8, max_distance=12)
    form = form_of(encoding, ExportOptions())
    far = torch.tensor([[0, 11, 12, 13, 1000, 10**9]])
    torch.testing.assert_close(form.bias(far, far), encoding.bias(far, far))


def test_distances_beyond_the_table_of_sandwich_are_an_error() -> None:
    form = form_of(Sandwich(HEADS), ExportOptions(max_length=8))
    assert form.bias(torch.tensor([[7]]), torch.tensor([[0]])) is not None
    for apart in (8, -8):
        with pytest.raises(IndexError):
            form.bias(torch.tensor([[8 + apart]]), torch.tensor([[8]]))


def test_tables_are_float32_and_outside_the_state_dict() -> None:
    for name, encoding in {**ROTATIONS, "sinusoidal": OTHERS["sinusoidal"]}.items():
        form = form_of(encoding, ExportOptions(max_length=LENGTH))
        assert form.state_dict() == {}, name
        assert {buffer.dtype for buffer in form.buffers()} <= {torch.float32, torch.int64}, name


def test_what_has_no_form_is_refused_in_one_sentence() -> None:
    from gnomon.encodings import AxialRotary, WindowBias
    from gnomon.errors import GnomonError

    dynamic = Rotary(8, frequencies={"kind": "dynamic", "factor": 2.0, "original_max_length": 64})
    with pytest.raises(GnomonError, match=r"at_length\(n\) before the export"):
        form_of(dynamic, ExportOptions())
    assert form_of(dynamic.at_length(128), ExportOptions()).max_length == 4096
    for encoding in (AxialRotary(8), WindowBias(2)):
        with pytest.raises(GnomonError, match=r"2 coordinates and no export form"):
            form_of(encoding, ExportOptions())
