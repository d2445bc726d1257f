"""Attention by relative shift against attention with all logits, and against XLNet of transformers."""

from dataclasses import dataclass
from functools import partial
from typing import Any

import pytest
import torch
from torch import Tensor

from gnomon.errors import ShapeError
from gnomon.kernels.relative_shift import Added, RelativeTerms, Shift, shifted_attention
from tests.helpers.peaks import peak_growth
from tests.helpers.weights import normal, redraw

B, H, D, V = 2, 3, 4, 5
SCALE = 0.7
CASES = {
    "all": Shift(7, 7, block=3),
    "causal-memory": Shift(7, 12, offset=5, after=0, block=3),
    "causal-window": Shift(7, 12, offset=5, before=3, after=0, block=2),
    "window": Shift(7, 12, offset=2, before=2, after=2, block=4),
    "itself": Shift(6, 6, before=0, after=0, block=4),
    "one-block": Shift(9, 9, after=0),
    "one-query": Shift(1, 9, offset=8, after=0),
    "elsewhere": Shift(5, 9, offset=30, block=2),
    "before-the-keys": Shift(5, 9, offset=-3, block=2),
}


@dataclass(frozen=True)
class Given:
    """Inputs in one dtype; all want gradients."""

    shift: Shift
    q: Tensor
    k: Tensor
    v: Tensor
    vectors: Tensor
    query_vector: Tensor
    key_vector: Tensor

    @property
    def tensors(self) -> list[Tensor]:
        return [self.q, self.k, self.v, self.vectors, self.query_vector, self.key_vector]

    def terms(self, scale: float = SCALE) -> RelativeTerms:
        return RelativeTerms(self.vectors, self.query_vector, self.key_vector, scale=scale)


def given(shift: Shift, *, dtype: torch.dtype = torch.float64, groups: int = H, half: Any = None) -> Given:
    """Keys and queries as projections leave them: heads and slots the other way round in memory."""
    distances = len(shift.distances(torch.device("cpu")))
    q, k = (normal(B, n, H, D, seed=n).transpose(1, 2) for n in (shift.queries, shift.keys))
    content = [x.to(half or dtype) for x in (q, k, normal(B, H, shift.keys, V, seed=3))]
    vectors = normal(groups, distances, D, seed=4).to(dtype)
    each = [normal(H, D, seed=seed).to(dtype) for seed in (5, 6)]
    return Given(shift, *(x.requires_grad_() for x in (*content, vectors, *each)))


def dense(given: Given, *, scale: float = SCALE, seen: Tensor | None = None, more: Tensor | float = 0.0) -> Tensor:
    """The formula with a number for each pair; zeros for queries that see nothing."""
    shift, wide = given.shift, given.vectors.dtype
    q, k, v = (x.to(wide) for x in (given.q, given.k, given.v))
    ahead = torch.arange(shift.keys) - shift.offset - torch.arange(shift.queries)[:, None]
    inside = torch.ones_like(ahead, dtype=torch.bool)
    if shift.after is not None:
        inside = inside & (ahead <= shift.after)
    if shift.before is not None:
        inside = inside & (ahead >= -shift.before)
    number = (ahead - shift.first).clamp(0, given.vectors.shape[1] - 1)
    pairs = given.vectors[:, number].expand(H, -1, -1, -1)
    relative = torch.einsum("bhqd,hqkd->bhqk", q + given.query_vector[:, None], pairs)
    by_key = torch.einsum("bhkd,hd->bhk", k, given.key_vector)[:, :, None]
    logits = scale * q @ k.mT + SCALE * (relative + by_key) + more
    seen = inside if seen is None else inside & seen
    weights = torch.nan_to_num(logits.masked_fill(~seen, -torch.inf).softmax(-1).masked_fill(~seen, 0.0))
    return weights @ v


def slopes(out: Tensor, inputs: list[Tensor]) -> list[Tensor]:
    return list(torch.autograd.grad((out * normal(*out.shape, seed=9).to(out.dtype)).sum(), inputs))


@pytest.mark.parametrize("groups", [1, H])
@pytest.mark.parametrize("shift", CASES.values(), ids=CASES)
def test_results_and_gradients_are_those_of_all_logits(shift: Shift, groups: int) -> None:
    for dtype, tolerance in ((torch.float64, 1e-12), (torch.float32, 4e-6)):
        x = given(shift, dtype=dtype, groups=groups)
        got = shifted_attention(x.q, x.k, x.v, x.terms(), shift, scale=SCALE)
        want = dense(x)
        torch.testing.assert_close(got, want, atol=tolerance, rtol=tolerance)
        torch.testing.assert_close(slopes(got, x.tensors), slopes(want, x.tensors), atol=tolerance, rtol=tolerance)


def test_content_may_have_another_scale_and_terms_may_have_no_vectors_of_their_own() -> None:
    x = given(CASES["causal-memory"])
    got = shifted_attention(x.q, x.k, x.v, x.terms(), x.shift, scale=0.2)
    want = dense(x, scale=0.2)
    torch.testing.assert_close(got, want, atol=1e-12, rtol=1e-12)
    torch.testing.assert_close(slopes(got, x.tensors), slopes(want, x.tensors), atol=1e-12, rtol=1e-12)
    bare = RelativeTerms(x.vectors, None, None, scale=SCALE)
    with torch.no_grad():
        x.query_vector.zero_()
        x.key_vector.zero_()
    torch.testing.assert_close(shifted_attention(x.q, x.k, x.v, bare, x.shift, scale=SCALE), dense(x))


def cut(seen: Tensor, queries: slice, keys: slice) -> Tensor:
    return seen[:, :, queries, keys]


@pytest.mark.parametrize("shift", [CASES["all"], CASES["causal-memory"], CASES["window"]], ids=str)
def test_hidden_keys_are_not_seen_and_queries_that_see_none_get_zeros_and_give_no_nan(shift: Shift) -> None:
    for rows in (1, B):
        seen = normal(rows, 1, shift.queries, shift.keys, seed=8) > 0
        seen[0, 0, 1] = False
        x = given(shift)
        got = shifted_attention(x.q, x.k, x.v, x.terms(), shift, scale=SCALE, visible=partial(cut, seen))
        assert torch.equal(got[0, :, 1], torch.zeros(H, V, dtype=got.dtype))
        want = dense(x, seen=seen)
        torch.testing.assert_close(got, want, atol=1e-12, rtol=1e-12)
        torch.testing.assert_close(slopes(got, x.tensors), slopes(want, x.tensors), atol=1e-12, rtol=1e-12)


def test_what_is_added_gets_its_gradient_and_ids_get_none() -> None:
    shift = CASES["causal-memory"]
    x, table, ids = given(shift), normal(3, seed=7).double().requires_grad_(), torch.arange(12) % 3

    def added(queries: slice, keys: slice, table: Tensor, ids: Tensor) -> Tensor:
        return table[ids[None, keys] * torch.ones(queries.stop - queries.start, 1, dtype=torch.int64)]

    got = shifted_attention(x.q, x.k, x.v, x.terms(), shift, scale=SCALE, added=Added(added, (table, ids)))
    want, inputs = dense(x, more=table[ids]), [*x.tensors, table]
    torch.testing.assert_close(got, want, atol=1e-12, rtol=1e-12)
    torch.testing.assert_close(slopes(got, inputs), slopes(want, inputs), atol=1e-12, rtol=1e-12)


def test_gradients_are_only_made_for_what_wants_them() -> None:
    x = given(CASES["all"])
    still = RelativeTerms(x.vectors.detach(), x.query_vector.detach(), x.key_vector.detach(), scale=SCALE)
    got = shifted_attention(x.q.detach(), x.k, x.v.detach(), still, x.shift, scale=SCALE)
    torch.testing.assert_close(slopes(got, [x.k]), slopes(dense(x), [x.k]), atol=1e-12, rtol=1e-12)


@pytest.mark.parametrize(("dtype", "rounding"), [(torch.bfloat16, 2.0**-8), (torch.float16, 2.0**-11)])
def test_half_precision_stays_at_its_rounding(dtype: torch.dtype, rounding: float) -> None:
    """Logits are in float32; only weights and results are rounded, each once, and gradients once."""
    shift = Shift(40, 50, offset=10, after=0, block=16)
    x = given(shift, dtype=torch.float32, half=dtype)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        got = shifted_attention(x.q, x.k, x.v, x.terms(), shift, scale=SCALE)
    want = dense(x)
    assert got.dtype == dtype
    assert (got.float() - want).abs().max() <= 2 * rounding * x.v.abs().max()
    for ours, theirs in zip(slopes(got.float(), x.tensors), slopes(want, x.tensors), strict=True):
        assert ours.dtype == theirs.dtype
        assert (ours.float() - theirs.float()).abs().max() <= 2 * rounding * theirs.float().abs().max()


@pytest.mark.parametrize("length", [7, 300])
def test_it_is_the_attention_of_xlnet_of_transformers(length: int) -> None:
    """Theirs in float64 judges both: float32 is off by a few roundings of numbers of about 1."""
    from transformers import XLNetConfig
    from transformers.models.xlnet.modeling_xlnet import XLNetRelativeAttention

    heads, width, memory = 2, 8, 5
    config = XLNetConfig(vocab_size=3, d_model=heads * width, n_layer=1, n_head=heads)
    theirs = XLNetRelativeAttention(config).double().eval()
    redraw(theirs)
    shift = Shift(length, memory + length, offset=memory)
    q, k, v = (normal(B, heads, n, width, seed=n + i) for i, n in enumerate((length, memory + length, memory + length)))
    r = normal(length + memory + length, heads, width, seed=3)  # query - key from memory + length down to 1 - length
    x = (*(part.double().permute(2, 0, 1, 3) for part in (q, k, v)), r.double()[:, None].expand(-1, B, -1, -1))
    want = theirs.rel_attn_core(*x).permute(1, 2, 0, 3)
    for dtype, tolerance in ((torch.float64, 1e-12), (torch.float32, 2e-6)):
        vectors, by_distance, by_key = (p.to(dtype) for p in (r[1:].transpose(0, 1), theirs.r_r_bias, theirs.r_w_bias))
        terms = RelativeTerms(vectors, by_distance, by_key, scale=width**-0.5)
        got = shifted_attention(q.to(dtype), k.to(dtype), v.to(dtype), terms, shift, scale=width**-0.5)
        torch.testing.assert_close(got.double(), want, atol=tolerance, rtol=0)


LINEAR = """
import torch
from gnomon.kernels.relative_shift import RelativeTerms, Shift, shifted_attention
def setup(length):
    shift = Shift(length, length, after=0)
    q, k, v = (torch.randn(1, 4, length, 16, requires_grad=True) for _ in range(3))
    vectors = torch.randn(4, len(shift.distances(q.device)), 16, requires_grad=True)
    return q, k, v, RelativeTerms(vectors, None, None, scale=0.25), shift
def run(given):
    shifted_attention(*given, scale=0.25).sum().backward()
def warm_up(given):
    run(setup(8))
"""


def test_memory_grows_with_the_length_and_not_with_its_square_in_training_too() -> None:
    short, long = (peak_growth(LINEAR, length=length) for length in (512, 2048))
    assert long < 4.6 * short
    assert long < 4 * 2048 * 2048 * 4 / 2  # half of the bytes of all logits


@pytest.mark.usefixtures("unchecked")
def test_what_does_not_fit_is_named() -> None:
    x = given(CASES["all"])
    with pytest.raises(ShapeError, match=r"\(queries, keys, distances\) = \(7, 8, 14\), the tensors have \(7, 7, 13\)"):
        shifted_attention(x.q, x.k, x.v, x.terms(), Shift(7, 8), scale=SCALE)
    with pytest.raises(ShapeError, match="3 query heads, 1 key heads and vectors for 3 heads; repeat keys"):
        shifted_attention(x.q, x.k[:, :1], x.v[:, :1], x.terms(), x.shift, scale=SCALE)
