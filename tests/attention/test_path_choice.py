"""Which path attention takes on its own, and what it says when another is forced."""

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

from gnomon.attention import Attention, LayerCache, paths
from gnomon.attention.blocks import blockwise
from gnomon.attention.call import Call
from gnomon.attention.dense import dense
from gnomon.attention.paths import ATTENTION
from gnomon.attention.strided import by_runs
from gnomon.errors import GnomonError
from tests.helpers.scenes import BATCH, BLOCKS_ONLY, DIM, ENCODINGS, HEADS, LENGTH, SCENES, layer_for
from tests.helpers.weights import normal


def test_a_forced_path_that_cannot_do_it_says_why() -> None:
    x, at = normal(BATCH, LENGTH, DIM), torch.arange(LENGTH)[None]
    cases = {
        ("strided", "fire"): r"(?s)'strided': FIRE.*more than the distance decides; force 'blocks'",
        ("flex", "shaw"): r"(?s)'flex': Shaw.*has no score_mod",
        ("flex", "alibi"): "'flex': FlexAttention has no gradients .* on CPU",
    }
    for (path, name), message in cases.items():
        layer = layer_for(ENCODINGS[name], SCENES["plain"])
        with ATTENTION.using(path), pytest.raises(GnomonError, match=message):
            layer(x, at)
    with torch.device("meta"):
        layer = Attention(DIM, num_heads=HEADS, encoding=ENCODINGS["nope"], causal=True)
    with ATTENTION.using("blocks"), pytest.raises(GnomonError, match="values cannot be read"):
        layer(x.to("meta"), at)


@pytest.fixture
def taken(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the paths that are taken, with no number of logits too few for any."""
    names: list[str] = []

    def watched(name: str, path: Callable[..., Tensor]) -> Callable[..., Tensor]:
        def called(call: Call, *given: object) -> Tensor:
            names.append(name)
            return path(call, *given)

        return called

    monkeypatch.setattr(paths, "FEW", 0)
    for name, path in (("dense", dense), ("strided", by_runs), ("blocks", blockwise)):
        monkeypatch.setattr(paths, path.__name__, watched(name, path))
    return names


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        *[
            (name, "strided")
            for name in ("alibi", "t5", "kerple", "sandwich", "rotary", "nope", "axial_rotary", "shaw")
        ],
        *[("randomized", "strided"), *((name, "blocks") for name in sorted(BLOCKS_ONLY))],
    ],
)
def test_each_encoding_takes_its_path_and_one_query_none_but_the_dense(
    name: str, expected: str, taken: list[str]
) -> None:
    for scene in (SCENES["plain"], SCENES["left padding"]):
        layer, x = layer_for(ENCODINGS[name], scene), normal(BATCH, LENGTH, DIM)
        at, cache = scene.positions(layer.encoding.axes), LayerCache()
        layer(x[:, :-1], at[:, :-1], scene.mask.slots(0, LENGTH - 1), cache)
        layer(x[:, -1:], at[:, -1:], scene.mask.slots(LENGTH - 1, LENGTH), cache)
    assert taken == [expected, "dense"] * 2


def test_few_logits_take_the_dense_path(taken: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    layer, x = layer_for(ENCODINGS["fire"], SCENES["plain"]), normal(BATCH, LENGTH, DIM)
    at = torch.arange(LENGTH)[None]
    with ATTENTION.using("dense"):
        want = layer(x, at)
    assert torch.equal(layer(x, at), want)


def test_one_decoded_token_of_rows_with_different_padding_asks_for_one_row_of_biases(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    scene = SCENES["left padding"]
    layer, x, at, cache = (
        layer_for(ENCODINGS["t5"], scene),
        normal(BATCH, LENGTH, DIM),
        scene.positions(1),
        LayerCache(),
    )
    layer(x[:, :-1], at[:, :-1], scene.mask.slots(0, LENGTH - 1), cache)
    shapes: list[tuple[int, ...]] = []
    bias = layer.encoding.bias

    def counted(queries: Tensor, keys: Tensor) -> Tensor | None:
        shapes.append((*queries.shape, *keys.shape))
        return bias(queries, keys)

    monkeypatch.setattr(paths, "FEW", 0)
    monkeypatch.setattr(layer.encoding, "bias", counted)
    layer(x[:, -1:], at[:, -1:], scene.mask.slots(LENGTH - 1, LENGTH), cache)
    assert shapes == [(BATCH, 1, BATCH, LENGTH)]


COMPILED = """
import torch
from gnomon.attention import Attention, AttentionMask, paths
from gnomon.encodings import ALiBi, Rotary, T5Bias
paths.FEW = 0
x, mask = torch.randn(2, 9, 12), AttentionMask.of(torch.tensor([[0] * 3 + [1] * 6, [1] * 9]))
at = torch.arange(9).expand(2, -1)
for encoding, given in ((ALiBi(3), (x, at, mask)), (T5Bias(3), (x, at)), (Rotary(4), (x, at, mask))):
    layer = Attention(12, num_heads=3, encoding=encoding, causal=True)
    got = torch.compile(layer, fullgraph=True, backend="eager")(*given)
    torch.testing.assert_close(got, layer(*given), rtol=0, atol=2e-6)
"""


def test_a_layer_is_one_graph() -> None:
    """In a process of its own: the checks of annotations in this one are no part of a graph."""
    ended = subprocess.run([sys.executable, "-c", COMPILED], capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr


def test_what_watches_attention_sees_it_dense(taken: list[str]) -> None:
    """A mode that reads the weights of scaled_dot_product_attention needs all of them in one call."""

    class Watching(TorchFunctionMode):
        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            return func(*args, **(kwargs or {}))

    layer, x = layer_for(ENCODINGS["alibi"], SCENES["plain"]), normal(BATCH, LENGTH, DIM)
    with Watching():
        layer(x, torch.arange(LENGTH)[None])
    assert taken == ["dense"]
