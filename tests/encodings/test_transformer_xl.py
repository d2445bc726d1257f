"""Relative positions of Transformer-XL, against the scalar formula and against the attention of XLNet."""

import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
import torch
from torch import Tensor

from gnomon.attention import Attention, AttentionMask, LayerCache
from gnomon.encodings import TransformerXL
from gnomon.errors import GnomonError, ShapeError
from gnomon.testing import Reference
from tests.helpers.case import Case
from tests.helpers.content import (
    BiasBesideParts,
    ContentUnscaled,
    DistancesFromKeys,
    DistancesOfParts,
    KeyForgotten,
    KeyWithoutDistance,
    PartsInModuleDtype,
    content_formula,
)
from tests.helpers.mutated_encodings import OffByOne, Wrapped
from tests.helpers.weights import normal, redraw

HEADS, WIDTH, DIM, BATCH = 3, 4, 10, 2
OPTIONS: dict[str, dict[str, Any]] = {"plain": {}, "clamped": {"clamp_length": 5}, "base": {"base": 300.0}}


def drawn(**options: Any) -> TransformerXL:
    """Weights far from zero: a fresh projection hides every fault."""
    encoding = TransformerXL(HEADS, WIDTH, dim=DIM, **options)
    redraw(encoding)
    return encoding


def cases() -> Iterator[Case]:
    for name, options in OPTIONS.items():
        encoding = drawn(**options)
        yield Case(f"transformer_xl-{name}", encoding, Reference(content_bias=content_formula(encoding)))


def mutations() -> list[tuple[type[Wrapped], str, set[str]]]:
    plain, parts = "transformer_xl-plain", {"content_by_distance"}
    return [
        (DistancesFromKeys, plain, set()),
        (ContentUnscaled, plain, set()),
        (KeyForgotten, plain, parts),
        (DistancesOfParts, "transformer_xl-clamped", parts),
        (KeyWithoutDistance, plain, parts),
        (BiasBesideParts, plain, parts),
        (PartsInModuleDtype, plain, parts),
    ]


def test_a_shift_of_all_positions_is_no_mutation_because_only_distances_enter() -> None:
    encoding = drawn()
    q, k, at = normal(BATCH, HEADS, 5, WIDTH), normal(BATCH, HEADS, 5, WIDTH), torch.arange(5)[None]
    shifted = OffByOne(encoding.to_json())
    shifted.inner.load_state_dict(encoding.state_dict())
    torch.testing.assert_close(shifted.content_bias(q, k, at, at), encoding.content_bias(q, k, at, at))


@pytest.mark.parametrize("clamp_length", [None, 4])
def test_positions_far_apart_and_close_together_take_the_same_numbers(clamp_length: int | None) -> None:
    """Both ways of finding the distinct distances, and rows of the batch that differ."""
    encoding = drawn(clamp_length=clamp_length)
    q, k = normal(BATCH, HEADS, 3, WIDTH), normal(BATCH, HEADS, 5, WIDTH)
    queries, keys = torch.tensor([[2, 9000, 3], [7, 0, 1]]), torch.tensor([[0, 2, 5000, 3, 1], [0, 1, 2, 7, 3]])
    both = encoding.content_bias(q, k, queries, keys)
    for row in range(BATCH):
        for i in range(3):
            alone = encoding.content_bias(q[[row], :, i : i + 1], k[[row]], queries[[row], i : i + 1], keys[[row]])
            torch.testing.assert_close(alone[0, :, 0], both[row, :, i], atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("attn_type", ["bi", "uni"])
@pytest.mark.parametrize(("memory", "clamp"), [(0, None), (4, None), (4, 3)])
def test_xlnet_attention_of_transformers_has_the_same_logits(attn_type: str, memory: int, clamp: int | None) -> None:
    from transformers import XLNetConfig
    from transformers.models.xlnet.modeling_xlnet import XLNetModel

    length, heads = 7, 2
    config = XLNetConfig(
        vocab_size=11, d_model=8, n_layer=1, n_head=heads, d_inner=16, attn_type=attn_type, clamp_len=clamp or -1
    )
    model = XLNetModel(config).eval()
    redraw(model)
    core = model.layer[0].rel_attn
    ours = TransformerXL(heads, 4, dim=8, clamp_length=clamp)
    with torch.no_grad():
        ours.projection.weight.copy_(core.r.flatten(1).T)
        ours.content_bias_vector.copy_(core.r_w_bias)
        ours.position_bias_vector.copy_(core.r_r_bias)
    q, k = normal(BATCH, heads, length, 4), normal(BATCH, heads, memory + length, 4)
    queries, keys = torch.arange(memory, memory + length)[None], torch.arange(memory + length)[None]
    got = q @ k.mT / 2 + ours.content_bias(q, k, queries, keys)
    r = torch.einsum("ibh,hnd->ibnd", model.relative_positional_encoding(length, memory + length, bsz=BATCH), core.r)
    theirs = _logits_of_transformers(core, q, k, r)
    seen = keys[:, None, :] <= queries[:, :, None] if attn_type == "uni" else torch.ones(1, length, memory + length) > 0
    torch.testing.assert_close(
        got.masked_fill(~seen[:, None], 0), theirs.masked_fill(~seen[:, None], 0), atol=1e-5, rtol=1e-5
    )


def _logits_of_transformers(core: Any, q: Tensor, k: Tensor, r: Tensor) -> Tensor:
    """The softmax of `rel_attn_core` turned back into logits, up to a number for each row, which is taken out."""
    one_hot = torch.eye(k.shape[2])[:, None, None, :].expand(-1, q.shape[0], q.shape[1], -1)
    captured: list[Tensor] = []
    softmax = torch.nn.functional.softmax

    def spy(logits: Tensor, dim: int) -> Tensor:
        captured.append(logits)
        return softmax(logits, dim=dim)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("torch.nn.functional.softmax", spy)
        core.rel_attn_core(q.permute(2, 0, 1, 3), k.permute(2, 0, 1, 3), one_hot, r)
    [logits] = captured
    return logits


@pytest.mark.parametrize("segment", [3, 4])
def test_memory_is_a_cache_whose_keys_get_no_gradient(segment: int) -> None:
    """Segment by segment with what came before equals one pass, for one set of weights."""
    layer = Attention(HEADS * WIDTH, num_heads=HEADS, encoding=drawn(), causal=True)
    redraw(layer)
    x, at, cache = normal(BATCH, 9, HEADS * WIDTH), torch.arange(9)[None], LayerCache()
    parts = [layer(x[:, s : s + segment], at[:, s : s + segment], AttentionMask(), cache) for s in range(0, 9, segment)]
    torch.testing.assert_close(torch.cat(parts, dim=1), layer(x, at), atol=1e-5, rtol=1e-5)


def test_a_window_is_what_same_length_asks_for() -> None:
    """Every query sees the same number of keys: those of its memory, and itself."""
    layer = Attention(HEADS * WIDTH, num_heads=HEADS, encoding=drawn(), causal=True, window=4)
    redraw(layer)
    x, at = normal(1, 9, HEADS * WIDTH), torch.arange(9)[None]
    whole = layer(x, at)
    alone = layer(x[:, 5:9], at[:, 5:9])
    torch.testing.assert_close(whole[:, 8], alone[:, 3], atol=1e-5, rtol=1e-5)
    changed = x.clone()
    changed[:, 4] += 1
    assert torch.equal(layer(changed, at)[:, 8], whole[:, 8])
    assert (layer(changed, at)[:, 7] - whole[:, 7]).abs().max() > 1e-2


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"dim": 7}, "an even dim of at least 2, got 3, 4 and 7"),
        ({"dim": 8, "clamp_length": 0}, "clamp_length must be at least 1, or None"),
        ({"dim": 8, "base": 1.0}, "base of the frequencies"),
    ],
)
def test_impossible_options_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(GnomonError, match=message):
        TransformerXL(HEADS, WIDTH, **options)


def test_heads_of_another_model_are_refused() -> None:
    q, at = normal(1, 2, 3, WIDTH), torch.arange(3)[None]
    with pytest.raises(ShapeError, match="for 3 heads of width 4, the queries have 2 of width 4"):
        drawn().content_bias(q, q, at, at)


PLACES = ([[3, 4, 5, 6, 7]], [[0, 0, 0, 1, 2], [0, 1, 2, 3, 4]], [[0, 700, 701, 40_000, 40_002], [5, 4, 3, 2, 1]])


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(("clamp_length", "dynamic"), [(None, False), (None, True), (4, False)])
def test_it_traces_into_one_graph(clamp_length: int | None, dynamic: bool) -> None:
    """At slots, in padded rows and at places far apart, though a graph reads no value to tell these; gradients too."""
    encoding = drawn(clamp_length=clamp_length)
    traced = torch.compile(encoding.content_bias, fullgraph=True, backend="aot_eager", dynamic=dynamic)
    for at in map(torch.tensor, PLACES):
        q, k = (normal(BATCH, HEADS, 5, WIDTH, seed=seed).requires_grad_() for seed in (1, 2))
        eager, got = encoding.content_bias(q, k, at, at), traced(q, k, at, at)
        torch.testing.assert_close(got, eager, atol=1e-5, rtol=1e-5)
        inputs = [q, k, *encoding.parameters()]
        slopes = [torch.autograd.grad(out.square().sum(), inputs) for out in (got, eager)]
        torch.testing.assert_close(slopes[0], slopes[1], atol=1e-4, rtol=1e-4)


def test_attention_with_it_is_one_graph_as_users_have_it() -> None:
    """In a process of its own: the checks of annotations that the tests put in cannot be traced."""
    code = f"""
import torch
from gnomon.attention import Attention
from gnomon.encodings import TransformerXL
layer = Attention(12, num_heads=3, encoding=TransformerXL(3, 4, dim=10), causal=True)
traced, x = torch.compile(layer, fullgraph=True, backend="aot_eager"), torch.randn(2, 5, 12)
for at in map(torch.tensor, {PLACES[1:]}):
    torch.testing.assert_close(traced(x, at), layer(x, at), atol=1e-6, rtol=1e-5)
"""
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)
