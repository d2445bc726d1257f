"""M-RoPE: which coordinate turns which pair, text as in Rotary, and the models that have each arrangement."""

from collections.abc import Iterator
from functools import partial
from importlib import import_module
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch import Tensor

from gnomon.attention import Attention, LayerCache
from gnomon.encodings import MRoPE, Rotary
from gnomon.encodings.frequencies import DynamicYaRN, Frequencies, Linear, Plain, YaRN
from gnomon.encodings.mrope import reference
from gnomon.errors import GnomonError, PositionError, ShapeError
from gnomon.testing import Reference
from tests.helpers.case import Case
from tests.helpers.encodings import factor_reference, inverse_reference
from tests.helpers.mutated_encodings import AllZero, FalselyRelative, FirstRowForAll, SignFlipped, Wrapped
from tests.helpers.mutated_precision import Bfloat16Ids, LowPrecision
from tests.helpers.peers import timm_rotary
from tests.helpers.rotary_forms import scattered
from tests.helpers.weights import normal, redraw

BATCH, HEADS, LENGTH = 2, 3, 9


def cases() -> Iterator[Case]:
    option_sets: dict[str, dict[str, Any]] = {
        "chunked": {"head_dim": 16, "sections": (2, 3, 3), "frequencies": Plain(500.0)},
        "interleaved": {"head_dim": 16, "sections": (4, 2, 2), "arrangement": "interleaved"},
        "time_last": {"head_dim": 12, "sections": [2, 2, 2], "arrangement": "time_last", "layout": "interleaved"},
        "partial": {"head_dim": 9, "rotary_dim": 8, "sections": (1, 2, 1), "layout": "interleaved"},
        "yarn": {"head_dim": 12, "sections": (2, 2, 2), "frequencies": YaRN(4.0, 64, base=500.0, beta_fast=4.0)},
    }
    for name, options in option_sets.items():
        made = MRoPE(**options)
        rule = made.frequencies
        inverse = [inverse_reference(rule, i, made.rotary_dim) for i in range(made.rotary_dim // 2)]
        form: dict[str, Any] = {"sections": made.sections, "arrangement": made.arrangement, "layout": made.layout}
        turned = partial(reference, inverse=inverse, attention_factor=factor_reference(rule), **form)
        yield Case(f"mrope-{name}", made, Reference(rotate_query=turned, rotate_key=turned))


class HeightAndWidthSwapped(Wrapped):
    def ids(self, positions: Tensor) -> Tensor:
        return positions[..., [0, 2, 1]]


class TimeForAll(Wrapped):
    """One-axis rotary with the first coordinate: what a text model does with a video."""

    def ids(self, positions: Tensor) -> Tensor:
        return positions[..., :1].expand_as(positions)


def mutations() -> list[tuple[type[Wrapped], str, set[str]]]:
    return [
        (HeightAndWidthSwapped, "mrope-chunked", set()),
        (HeightAndWidthSwapped, "mrope-interleaved", set()),
        (TimeForAll, "mrope-time_last", set()),
        (SignFlipped, "mrope-partial", set()),
        (AllZero, "mrope-chunked", {"uses_position"}),
        (FalselyRelative, "mrope-yarn", {"shift_invariance"}),
        (FirstRowForAll, "mrope-interleaved", {"rows_of_the_batch"}),
        (Bfloat16Ids, "mrope-chunked", {"shift_invariance"}),
        (LowPrecision, "mrope-interleaved", {"norms"}),
    ]


@pytest.mark.parametrize(
    ("sections", "arrangement", "expected"),
    [
        ((1, 2, 3), "chunked", "thhwww"),
        ((2, 2, 2), "interleaved", "thwthw"),
        ((4, 2, 2), "interleaved", "thwthwtt"),
        ((3, 2, 1), "interleaved", "thwtht"),
        ((2, 2, 2), "time_last", "hwhwtt"),
        ((3, 0, 0), "chunked", "ttt"),
    ],
)
def test_golden_arrangements(sections: tuple[int, int, int], arrangement: Any, expected: str) -> None:
    encoding = MRoPE(2 * len(expected), sections=sections, arrangement=arrangement)
    assert "".join("thw"[axis] for axis in encoding.axis_of_pair) == expected


@pytest.mark.parametrize("frequencies", [Plain(1e6), YaRN(4.0, 64), Linear(2.0)], ids=lambda rule: type(rule).__name__)
@pytest.mark.parametrize("options", [{}, {"arrangement": "interleaved", "layout": "interleaved", "rotary_dim": 12}])
def test_text_is_turned_exactly_as_by_rotary(frequencies: Frequencies, options: dict[str, Any]) -> None:
    x, along = normal(BATCH, HEADS, LENGTH, 15), torch.randint(0, 100_000, (BATCH, LENGTH))
    options = {"rotary_dim": 12, "frequencies": frequencies, **options}
    ours = MRoPE(15, sections=(2, 2, 2), **options)
    plain = Rotary(15, **{name: value for name, value in options.items() if name != "arrangement"})
    text = along[..., None].expand(-1, -1, 3)
    assert torch.equal(ours.rotate_query(x, text), plain.rotate_query(x, along))
    assert torch.equal(ours.rotate_key(x, text), plain.rotate_key(x, along))


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("arrangement", ["chunked", "interleaved"])
def test_a_shift_along_one_axis_leaves_scores_alone(axis: int, arrangement: Any) -> None:
    q, k, place = normal(BATCH, HEADS, 9, 12), normal(BATCH, HEADS, 9, 12, seed=2), scattered(4, 7, 11)
    encoding = MRoPE(12, sections=(2, 2, 2), arrangement=arrangement)
    shift = torch.eye(3, dtype=torch.int64)[axis] * 37
    still, moved = (encoding.rotate_query(q, at) @ encoding.rotate_key(k, at).mT for at in (place, place + shift))
    torch.testing.assert_close(still, moved, atol=2e-5, rtol=0)


def test_decoding_text_after_an_image_through_a_cache_equals_one_pass() -> None:
    layer = Attention(32, num_heads=4, num_key_heads=2, encoding=MRoPE(8, sections=(2, 1, 1)), causal=True)
    redraw(layer)
    image = torch.tensor([[2, 2 + row, 2 + column] for row in range(2) for column in range(3)])
    text = [torch.arange(start, end)[:, None].expand(-1, 3) for start, end in ((0, 2), (5, 9))]
    place = torch.cat((text[0], image, text[1])).expand(BATCH, -1, -1)
    x, cache = normal(BATCH, place.shape[1], 32), LayerCache()
    steps = [slice(0, 8), *(slice(i, i + 1) for i in range(8, place.shape[1]))]
    parts = [layer(x[:, step], place[:, step], cache=cache) for step in steps]
    torch.testing.assert_close(torch.cat(parts, dim=1), layer(x, place), atol=1e-5, rtol=0)


def test_a_token_without_a_place_is_not_turned() -> None:
    x = normal(1, HEADS, 2, 12)
    turned = MRoPE(12, sections=(2, 2, 2)).rotate_query(x, torch.tensor([[[-1, -1, -1], [-1, 0, 3]]]))
    assert torch.equal(turned[:, :, 0], x[:, :, 0])
    assert not torch.equal(turned[:, :, 1], x[:, :, 1])


def theirs(family: str, name: str, q: Tensor, k: Tensor, place: Tensor, **parameters: Any) -> tuple[Tensor, Tensor]:
    """Queries and keys turned by a family of transformers, which has the coordinates first: (3, B, S)."""
    module = import_module(f"transformers.models.{family}.modeling_{family}")
    rope = {"rope_type": "default", "rope_theta": 10000.0, **parameters}
    sizes = {"max_position_embeddings": 512, "head_dim": q.shape[-1], "hidden_size": 64, "num_attention_heads": 4}
    config = SimpleNamespace(**sizes, rope_parameters=rope, standardize_rope_params=lambda: None)
    cos, sin = getattr(module, name)(config)(q, place.permute(2, 0, 1))
    turned: tuple[Tensor, Tensor] = module.apply_rotary_pos_emb(q, k, cos, sin)
    return turned


YARN = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 64}


@pytest.mark.parametrize(
    ("family", "name", "parameters", "options"),
    [
        ("qwen2_vl", "Qwen2VLRotaryEmbedding", {"mrope_section": [2, 3, 3]}, {"sections": (2, 3, 3)}),
        ("qwen2_5_vl", "Qwen2_5_VLRotaryEmbedding", {"mrope_section": [3, 1, 4]}, {"sections": (3, 1, 4)}),
        ("paddleocr_vl", "PaddleOCRRotaryEmbedding", {"mrope_section": [2, 3, 3]}, {"sections": (2, 3, 3)}),
        (
            "qwen2_5_vl",
            "Qwen2_5_VLRotaryEmbedding",
            {"mrope_section": [2, 3, 3], **YARN},
            {"sections": (2, 3, 3), "frequencies": YaRN(4.0, 64)},
        ),
        (
            "qwen3_vl",
            "Qwen3VLTextRotaryEmbedding",
            {"mrope_section": [4, 2, 2]},
            {"sections": (4, 2, 2), "arrangement": "interleaved"},
        ),
        (
            "qwen3_5",
            "Qwen3_5TextRotaryEmbedding",
            {"mrope_section": [2, 1, 1], "partial_rotary_factor": 0.5},
            {"sections": (2, 1, 1), "arrangement": "interleaved", "rotary_dim": 8},
        ),
        (
            "glm4v",
            "Glm4vTextRotaryEmbedding",
            {"mrope_section": [1, 2, 1], "partial_rotary_factor": 0.5},
            {"sections": (1, 2, 1), "rotary_dim": 8, "layout": "interleaved"},
        ),
        (
            "ernie4_5_vl_moe",
            "Ernie4_5_VLMoeTextRotaryEmbedding",
            {"mrope_section": [3, 3, 2]},
            {"sections": (2, 3, 3), "arrangement": "time_last", "layout": "interleaved"},
        ),
    ],
    ids=["qwen2_vl", "qwen2_5_vl", "paddleocr_vl", "qwen2_5_vl-yarn", "qwen3_vl", "qwen3_5", "glm4v", "ernie4_5_vl"],
)
def test_transformers(family: str, name: str, parameters: dict[str, Any], options: dict[str, Any]) -> None:
    q, k, place = normal(BATCH, HEADS, LENGTH, 16), normal(BATCH, 1, LENGTH, 16, seed=2), scattered(20, 30, 40)
    expected = theirs(family, name, q, k, place, **parameters)
    ours = MRoPE(16, **options)
    torch.testing.assert_close(ours.rotate_query(q, place), expected[0], atol=1e-5, rtol=0)
    torch.testing.assert_close(ours.rotate_key(k, place), expected[1], atol=1e-5, rtol=0)
    swapped = place[..., [0, 2, 1]]
    assert (ours.rotate_query(q, swapped) - expected[0]).abs().max() > 0.1


def test_sections_of_whole_models_deal_out_as_their_code_does() -> None:
    """Qwen3-VL (head 128) and Qwen3.5 (64 of 256 columns), by the slices that their code overwrites."""
    for pairs, sections in ((64, (24, 20, 20)), (32, (11, 11, 10))):
        axis = [0] * pairs
        for which in (1, 2):
            axis[which : 3 * sections[which] : 3] = [which] * sections[which]
        assert MRoPE(2 * pairs, sections=sections, arrangement="interleaved").axis_of_pair == tuple(axis)


def test_images_in_timm_are_the_interleaved_form_at_time_zero() -> None:
    """Its sections (8, 12, 12) on 32 pairs come out as (11, 11, 10); ours must be told so."""
    timm, q, grid = timm_rotary(), normal(BATCH, HEADS, 15, 64), (3, 5)
    embed = timm.RotaryEmbeddingMRope(64, mrope_section=(8, 12, 12)).get_embed(grid)
    with pytest.raises(GnomonError, match=r"come out as \(11, 11, 10\); .* so pass sections=\(11, 11, 10\)"):
        MRoPE(64, sections=(8, 12, 12), arrangement="interleaved")
    ours = MRoPE(64, sections=(11, 11, 10), arrangement="interleaved")
    place = torch.tensor([[[0, row, column] for row in range(3) for column in range(5)]])
    expected = timm.apply_rot_embed_cat(q, embed, half=True)
    torch.testing.assert_close(ours.rotate_query(q, place), expected, atol=1e-5, rtol=0)


def test_an_attention_factor_takes_the_promise_of_norms_back() -> None:
    assert MRoPE(16, sections=(2, 3, 3)).norm_preserving
    assert not MRoPE(16, sections=(2, 3, 3), frequencies=YaRN(4.0, 64)).norm_preserving


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, r"add up to the 8 pairs that turn; got \(16, 24, 24\), which add up to 64"),
        ({"sections": (4, 4)}, r"three numbers of pairs, .* got \(4, 4\)"),
        ({"sections": (10, -1, -1)}, r"got \(10, -1, -1\)"),
        ({"sections": (2, 2, 4), "arrangement": "time_last"}, r"\(time_last\): their pairs come out as \(2, 3, 3\)"),
        ({"sections": (2, 3, 3), "arrangement": "mixed"}, "one of chunked, interleaved, time_last, got 'mixed'"),
        ({"sections": (2, 3, 3), "rotary_dim": 18}, "between 2 and the head width 16, got 18"),
        (
            {"sections": (2, 3, 3), "frequencies": DynamicYaRN(64)},
            r"MRoPE takes frequencies that do not change with the length .* at_length\(length\)",
        ),
    ],
)
@pytest.mark.usefixtures("unchecked")
def test_impossible_options_are_errors(options: dict[str, Any], message: str) -> None:
    with pytest.raises(GnomonError, match=message):
        MRoPE(16, **options)


@pytest.mark.usefixtures("unchecked")
def test_positions_that_do_not_fit_are_errors() -> None:
    encoding, x = MRoPE(16, sections=(2, 3, 3)), normal(BATCH, HEADS, LENGTH, 16)
    with pytest.raises(ShapeError, match=r"need 3 coordinates each, .* got shape \(3, 2, 9\)"):
        encoding.rotate_query(x, scattered(4, 5, 6).permute(2, 0, 1))
    with pytest.raises(PositionError, match="must be int64"):
        encoding.rotate_query(x, scattered(4, 5, 6).float())
    with pytest.raises(ShapeError, match="The heads are 8 wide but the rotary encoding is for 16"):
        encoding.rotate_query(x[..., :8], scattered(4, 5, 6))


@pytest.mark.usefixtures("unchecked")
def test_it_traces_into_one_graph() -> None:
    encoding, x, place = MRoPE(16, sections=(2, 3, 3)), normal(BATCH, HEADS, LENGTH, 16), scattered(4, 5, 6)
    traced = torch.compile(encoding.rotate_query, fullgraph=True, backend="eager")(x, place)
    torch.testing.assert_close(traced, encoding.rotate_query(x, place))
