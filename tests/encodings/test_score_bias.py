"""Biases inside FlexAttention equal the dense ones: decoding, packing, padding, grids, memory and gradients.

Run with the eager backend, which calls torch's own flex_attention on CPU without building a kernel.
"""

import inspect
from collections.abc import Callable
from types import FunctionType

import pytest
import torch
import torch._dynamo
from torch import Tensor, nn
from torch.nn.attention.flex_attention import create_block_mask, flex_attention
from torch.nn.functional import scaled_dot_product_attention

from gnomon import positions
from gnomon.encodings import FIRE, KERPLE, ALiBi, ALiBiGrid, LogCPB, Sandwich, T5Bias, WindowBias
from gnomon.encodings.score_bias import DistanceBias, ScoreBias, ScoreMod
from gnomon.errors import PositionError
from gnomon.positions import grid as places
from tests.helpers.weights import redraw

#: torch 2.13 says this when its compiler meets numbers that were computed from a parameter; it changes nothing
pytestmark = pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor that is not a leaf:UserWarning")

HEADS = 4
ON_A_LINE: dict[str, Callable[[], ScoreBias]] = {
    "alibi": lambda: ALiBi(HEADS),
    "alibi-causal": lambda: ALiBi(HEADS, form="causal"),
    "alibi-asymmetric": lambda: ALiBi(HEADS, form="asymmetric"),
    "t5": lambda: T5Bias(HEADS, num_buckets=8, max_distance=9),
    "t5-causal": lambda: T5Bias(HEADS, num_buckets=6, max_distance=5, direction="causal"),
    "kerple-log": lambda: KERPLE(HEADS),
    "kerple-power": lambda: KERPLE(HEADS, form="power"),
    "sandwich": lambda: Sandwich(HEADS, sinusoid_dim=6),
    "fire": lambda: FIRE(HEADS, hidden_dim=5, threshold=30),
}
ON_A_GRID: dict[str, Callable[[], ScoreBias]] = {
    "alibi_grid": lambda: ALiBiGrid(HEADS),
    "alibi_grid-manhattan": lambda: ALiBiGrid(HEADS, metric="manhattan"),
    "window": lambda: WindowBias(HEADS, window=(3, 4)),
    "window-prefix": lambda: WindowBias(HEADS, window=(3, 4), prefix=True),
    "log_cpb": lambda: LogCPB(HEADS, window=(3, 4), hidden_dim=5),
}
ROWS = torch.tensor([[0, 1, 2, 3, 4, 5, 6, 7, 8], [3, 4, 5, 6, 7, 8, 9, 10, 11]])
DOCUMENTS_RESTART = positions.from_documents(torch.tensor([[1, 1, 1, 2, 2, 2, 2, 3, 3], [4] * 5 + [5] * 4]))
PADDED = positions.from_mask(torch.tensor([[0, 0, 0, 1, 1, 1, 1, 1, 1], [1] * 9]))
#: positions of the queries and of the keys
LINES: dict[str, tuple[Tensor, Tensor]] = {
    "decoding": (ROWS[:, -1:], ROWS),
    "a chunk": (ROWS[:, 5:], ROWS),
    "one row for all": (ROWS[:1, 5:], ROWS[:1]),
    "queries for all": (ROWS[:1, 3:], ROWS),
    "packed": (DOCUMENTS_RESTART, DOCUMENTS_RESTART),
    "left padding": (PADDED, PADDED),
    "gaps": (torch.tensor([[0, 7, 1000], [2, 40, 41]]), torch.tensor([[0, 7, 9, 1000], [2, 3, 40, 41]])),
}


@pytest.fixture(autouse=True)
def empty_compiler() -> None:
    torch._dynamo.reset()


def drawn(make: Callable[[], ScoreBias]) -> ScoreBias:
    encoding = make()
    redraw(encoding, std=0.7)
    return encoding


def evaluated(mod: ScoreMod, batch: int, queries: int, keys: int) -> Tensor:
    """What a score_mod adds to logits of zero, called as FlexAttention calls it: one number at a time."""
    indices = [torch.arange(size) for size in (batch, HEADS, queries, keys)]
    for dims in ((None, None, None, None, 0), (None, None, None, 0, None), (None, None, 0, None, None)):
        mod = torch.vmap(mod, in_dims=dims)
    return torch.vmap(mod, in_dims=(None, 0, None, None, None))(torch.zeros(()), *indices)


def same_to_a_softmax(encoding: ScoreBias, got: Tensor, want: Tensor) -> None:
    if isinstance(encoding, ALiBi) and encoding.causal_only:  # a row constant apart
        got, want = got - got[..., :1], want - want[..., :1]
    torch.testing.assert_close(got, want.expand_as(got), rtol=1e-6, atol=2e-6)


@pytest.mark.parametrize("name", ON_A_LINE)
@pytest.mark.parametrize("line", LINES)
def test_a_score_mod_adds_what_the_dense_bias_holds(name: str, line: str) -> None:
    encoding, (queries, keys) = drawn(ON_A_LINE[name]), LINES[line]
    got = evaluated(encoding.score_mod(queries, keys), 2, queries.shape[1], keys.shape[1])
    same_to_a_softmax(encoding, got, encoding.bias(queries, keys))


@pytest.mark.parametrize("name", ON_A_GRID)
def test_on_a_grid_a_score_mod_adds_what_the_dense_bias_holds(name: str) -> None:
    encoding, keys = drawn(ON_A_GRID[name]), places(3, 4, prefix=1)
    rows = torch.cat((keys, keys.flip(1)))
    for queries, all_keys in ((keys, keys), (rows[:, 4:9], rows), (keys[:, :2], rows), (rows[:, :3], keys)):
        got = evaluated(encoding.score_mod(queries, all_keys), 2, queries.shape[1], all_keys.shape[1])
        same_to_a_softmax(encoding, got, encoding.bias(queries, all_keys))


def causal_and_documents(documents: Tensor, first: int) -> Callable[[Tensor, Tensor, Tensor, Tensor], Tensor]:
    """Slots see earlier slots of their own document, padding included in none but its own slot."""

    def visible(batch: Tensor, head: Tensor, query: Tensor, key: Tensor) -> Tensor:
        slot = query + first
        same = documents[batch, slot] == documents[batch, key]
        return (key <= slot) & same & ((documents[batch, key] >= 0) | (key == slot))

    return visible


def flex(q: Tensor, k: Tensor, v: Tensor, mod: ScoreMod, documents: Tensor) -> Tensor:
    B, H, Q, _ = q.shape
    K = k.shape[2]
    mask = create_block_mask(causal_and_documents(documents, K - Q), B, None, Q, K, device="cpu")
    compiled = torch.compile(flex_attention, backend="eager", fullgraph=True)
    out = compiled(q, k, v, score_mod=mod, block_mask=mask, enable_gqa=k.shape[1] != H)
    assert isinstance(out, Tensor)
    return out


def dense(q: Tensor, k: Tensor, v: Tensor, bias: Tensor, documents: Tensor) -> Tensor:
    Q, K = q.shape[2], k.shape[2]
    slot, key = torch.arange(K - Q, K)[:, None], torch.arange(K)
    same = documents[:, K - Q :, None] == documents[:, None, :]
    seen = (key <= slot) & same & ((documents[:, None, :] >= 0) | (key == slot))
    return scaled_dot_product_attention(
        q, k, v, attn_mask=bias.masked_fill(~seen[:, None], -torch.inf), enable_gqa=k.shape[1] != q.shape[1]
    )


def vectors(queries: int, keys: int, *, key_heads: int = HEADS) -> tuple[Tensor, Tensor, Tensor]:
    generator = torch.Generator().manual_seed(0)
    q, k, v = (
        torch.randn(2, heads, length, 8, generator=generator)
        for heads, length in ((HEADS, queries), (key_heads, keys), (key_heads, keys))
    )
    return q, k, v


DOCUMENTS = torch.tensor([[1, 1, 1, 2, 2, 2, 2, 3, 3], [-1, -1, 4, 4, 4, 4, 4, 4, 4]])
PACKED = torch.tensor([[0, 1, 2, 0, 1, 2, 3, 0, 1], [0, 0, 0, 1, 2, 3, 4, 5, 6]])


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize("name", ["alibi", "alibi-causal", "t5-causal", "kerple-log", "sandwich", "fire"])
def test_flex_attention_over_packed_and_padded_rows_equals_dense_attention(name: str) -> None:
    encoding, (q, k, v) = drawn(ON_A_LINE[name]), vectors(9, 9)
    got = flex(q, k, v, encoding.score_mod(PACKED, PACKED), DOCUMENTS)
    torch.testing.assert_close(got, dense(q, k, v, encoding.bias(PACKED, PACKED), DOCUMENTS), rtol=0, atol=2e-6)


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize("queries", [1, 4])
def test_flex_attention_behind_a_cache_equals_dense_attention_with_fewer_key_heads(queries: int) -> None:
    encoding, (q, k, v) = drawn(ON_A_LINE["t5"]), vectors(queries, 9, key_heads=2)
    documents = torch.tensor([[0] * 9, [-1, -1] + [0] * 7])
    now = ROWS[:, -queries:]
    got = flex(q, k, v, encoding.score_mod(now, ROWS), documents)
    torch.testing.assert_close(got, dense(q, k, v, encoding.bias(now, ROWS), documents), rtol=0, atol=2e-6)


LEARNED = {name: make for name, make in {**ON_A_LINE, **ON_A_GRID}.items() if list(make().parameters())}


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize("name", LEARNED)
def test_learned_biases_get_the_gradients_of_the_dense_form_through_flex_attention(name: str) -> None:
    encoding = drawn(LEARNED[name])
    place = places(2, 4, prefix=1) if encoding.axes == 2 else PACKED
    q, k, v = vectors(9, 9)
    documents = torch.zeros(2, 9, dtype=torch.int64) if encoding.axes == 2 else DOCUMENTS
    weights = torch.linspace(-1, 1, q.numel()).view_as(q)

    def gradients(out: Tensor) -> list[Tensor]:
        return list(torch.autograd.grad((out * weights).sum(), list(encoding.parameters())))

    got = gradients(flex(q, k, v, encoding.score_mod(place, place), documents))
    want = gradients(dense(q, k, v, encoding.bias(place, place), documents))
    for ours, theirs in zip(got, want, strict=True):
        assert theirs.any()
        torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-5)


def test_flex_attention_on_cpu_takes_no_queries_that_want_a_gradient() -> None:
    """What torch 2.13 cannot do, so that the sentence in the docstring is noticed when it can."""
    q, k, v = vectors(9, 9)
    with pytest.raises(torch._dynamo.exc.Unsupported, match="does not support backward on CPU"):
        flex(q.requires_grad_(), k, v, ALiBi(HEADS).score_mod(ROWS, ROWS), DOCUMENTS)


def captured(mod: ScoreMod) -> list[Tensor]:
    """The tensors in a function's closure."""
    plain = inspect.unwrap(mod)  # of the check of annotations in tests
    assert isinstance(plain, FunctionType)
    cells = [cell.cell_contents for cell in plain.__closure__ or ()]
    items = [item for cell in cells for item in (cell if isinstance(cell, list) else [cell])]
    return [item for item in items if isinstance(item, Tensor)]


def held(mod: ScoreMod) -> int:
    """How many numbers a function holds."""
    return sum(tensor.numel() for tensor in captured(mod))


@pytest.mark.parametrize("name", [name for name, make in ON_A_LINE.items() if isinstance(make(), DistanceBias)])
def test_biases_by_distance_hold_one_number_for_each_distance(name: str) -> None:
    line = torch.arange(300)[None]
    assert held(drawn(ON_A_LINE[name]).score_mod(line, line)) == HEADS * 599 + 2 * 300
    assert held(drawn(ON_A_LINE[name]).score_mod(line[:, -1:], line)) == HEADS * 300 + 301


def test_grids_hold_the_table_and_the_places() -> None:
    place = places(3, 4)
    assert held(ALiBiGrid(HEADS).score_mod(place, place)) == HEADS + 2 * 2 * 12
    assert held(WindowBias(HEADS, window=(3, 4)).score_mod(place, place)) == HEADS * (5 * 7 + 3) + 2 * 12


@pytest.mark.parametrize("name", [*ON_A_LINE, *ON_A_GRID])
def test_a_score_mod_holds_no_two_views_of_one_tensor(name: str) -> None:
    """torch 2.13 cannot build its CPU kernel from them: measured with ALiBiGrid, before it made copies."""
    place = places(3, 4) if name in ON_A_GRID else torch.arange(12)[None]
    tensors = captured(drawn((ON_A_LINE | ON_A_GRID)[name]).score_mod(place, place))
    assert len({tensor.untyped_storage().data_ptr() for tensor in tensors}) == len(tensors)


def test_positions_far_apart_take_the_dense_numbers_instead() -> None:
    ends = torch.tensor([[0, 10**12]])
    mod = ALiBi(HEADS).score_mod(ends, ends)
    assert held(mod) == HEADS * 4
    assert torch.equal(evaluated(mod, 1, 2, 2), ALiBi(HEADS).bias(ends, ends))


def test_rows_at_their_own_offsets_hold_no_more_than_their_own_distances() -> None:
    rows = torch.arange(9) + torch.tensor([[0], [10**6]])
    assert held(ALiBi(HEADS).score_mod(rows, rows)) == HEADS * 17 + 4 * 9


def test_the_causal_form_is_exact_far_out_in_a_score_mod() -> None:
    """The dense numbers near 10^6 are rounded to a multiple of 1/32 for the steepest of these slopes."""
    line = torch.arange(9)[None] + 1_000_001
    got = evaluated(ALiBi(HEADS, form="causal").score_mod(line, line), 1, 9, 9)
    assert torch.equal(got.tril(), ALiBi(HEADS).bias(line, line).tril())


def test_positions_are_checked_when_the_function_is_made() -> None:
    line = torch.arange(4, dtype=torch.int32)[None]
    for encoding in (ALiBi(2), FIRE(2)):
        with pytest.raises(PositionError, match="must be int64"):
            encoding.score_mod(line, line)
    with pytest.raises(PositionError, match="must be int64"):
        ALiBiGrid(2).score_mod(places(2, 2).int(), places(2, 2))


def test_a_function_made_before_a_training_step_keeps_the_old_numbers() -> None:
    encoding = drawn(ON_A_LINE["t5"])
    before, mod = encoding.bias(ROWS, ROWS).detach().clone(), encoding.score_mod(ROWS, ROWS)
    nn.init.zeros_(next(encoding.parameters()))
    same_to_a_softmax(encoding, evaluated(mod, 2, 9, 9), before)
