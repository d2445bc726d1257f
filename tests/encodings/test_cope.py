"""CoPE: counts by hand, what counts and what does not, the published code and x-transformers, gradients."""

import math
from collections.abc import Iterator
from typing import Any

import pytest
import torch
from torch import Tensor

from gnomon.encodings import CoPE
from gnomon.errors import GnomonError, PositionError, ShapeError
from gnomon.testing import Reference
from tests.helpers.case import Case
from tests.helpers.content import (
    ContentMutation,
    ContentNegated,
    ContentOfNeighbour,
    ContentUnscaled,
    DistancesFromKeys,
    KeysForQueries,
    content_formula,
    slopes,
)
from tests.helpers.mutated_encodings import AnyDtype, FalselyRelative, FrozenTable, IgnoresIds, Wrapped
from tests.helpers.peers import x_transformers
from tests.helpers.weights import normal, redraw

PLAIN, SHORT, LISTING = "cope-9", "cope-3", "cope-listing"
HEADS, WIDTH = 3, 8


def drawn(**options: Any) -> CoPE:
    encoding = CoPE(HEADS, WIDTH, **options)
    redraw(encoding, std=0.7)
    return encoding


def cases() -> Iterator[Case]:
    option_sets: dict[str, dict[str, Any]] = {
        PLAIN: {"max_positions": 9},
        SHORT: {"max_positions": 3},
        LISTING: {"max_positions": 5, "scale": 1.0},
        "cope-open-gates": {"max_positions": 12, "gate_scale": 0.01},
    }
    for name, options in option_sets.items():
        made = drawn(**options)
        yield Case(name, made, Reference(content_bias=content_formula(made)))


def mutations() -> list[tuple[type[Wrapped], str, set[str]]]:
    return [
        (ContentNegated, PLAIN, set()),
        (ContentUnscaled, LISTING, set()),
        (ContentOfNeighbour, PLAIN, {"permutation_of_tokens"}),
        (CountsSlots, PLAIN, {"uses_position", "one_token_at_a_time", "permutation_of_tokens"}),
        (DistancesFromKeys, SHORT, set()),
        (KeysForQueries, PLAIN, set()),
        (FrozenTable, PLAIN, {"gradients"}),
        (FalselyRelative, SHORT, {"shift_invariance"}),
        (IgnoresIds, PLAIN, {"uses_position", "one_token_at_a_time", "permutation_of_tokens"}),
        (AnyDtype, PLAIN, {"int64_ids"}),
    ]


class CountsSlots(ContentMutation):
    """Sums the gates slot by slot, as the published code does, whatever the positions are."""

    def content_bias(
        self, q: Tensor, k: Tensor, query_positions: Tensor, key_positions: Tensor, *visible: Tensor | None
    ) -> Tensor | None:
        slots = torch.arange(k.shape[2])[None]
        return self.inner.content_bias(q, k, slots[:, -q.shape[2] :], slots, *visible)


def aligned(signs: list[float]) -> tuple[Tensor, Tensor]:
    """One query and keys whose gates are 1 where the sign is +1, 0 where it is -1, and 1/2 where it is 0."""
    return torch.full((1, 1, 1, 4), 10.0), torch.tensor(signs, dtype=torch.float32)[None, None, :, None].expand(
        1, 1, -1, 4
    ) * 10.0


def test_the_distance_is_the_number_of_keys_that_count_from_the_key_to_the_query() -> None:
    encoding = CoPE(1, 4, max_positions=8)
    q, k = aligned([1, -1, 0, 1, -1, 1])
    place = torch.arange(6)[None]
    assert encoding.counts(q, k, place[:, 5:], place).tolist() == [[[[3.5, 2.5, 2.5, 2.0, 1.0, 1.0]]]]


def test_hidden_keys_count_nothing() -> None:
    encoding, place = CoPE(1, 4, max_positions=8), torch.arange(6)[None]
    q, k = aligned([1, 1, 1, 1, 1, 1])
    visible = torch.tensor([[[[False, True, True, False, False, True]]]])
    assert encoding.counts(q, k, place[:, 5:], place, visible).tolist() == [[[[3.0, 3.0, 2.0, 1.0, 1.0, 1.0]]]]


def test_without_being_told_all_keys_up_to_the_query_count() -> None:
    encoding, place = CoPE(1, 4, max_positions=8), torch.arange(6)[None]
    q, k = aligned([1, 1, 1, 1, 1, 1])
    assert encoding.counts(q, k, place[:, 2:3], place).tolist() == [[[[3.0, 2.0, 1.0, 0.0, 0.0, 0.0]]]]


def test_keys_at_the_same_position_have_the_same_count() -> None:
    encoding, place = CoPE(1, 4, max_positions=8), torch.tensor([[0, 1, 1, 2]])
    q, k = aligned([1, 1, 1, 1])
    assert encoding.counts(q, k, place[:, 3:], place).tolist() == [[[[4.0, 3.0, 3.0, 1.0]]]]


def test_the_bias_is_interpolated_between_rows_and_ends_at_the_last() -> None:
    """Row p holds p squared and the query sums to 40: halfway between 1 and 4 is 2.5, and 4 is the end of 3 rows."""
    encoding, place = CoPE(1, 4, max_positions=3, scale=0.1), torch.arange(5)[None]
    with torch.no_grad():
        encoding.weight.copy_(torch.tensor([0.0, 1.0, 4.0])[:, None].expand(3, 4))
    q, k = aligned([1, 1, 0, 1, -1])
    bias = encoding.content_bias(q, k, place[:, 4:], place)
    assert bias[0, 0, 0].tolist() == pytest.approx([16.0, 16.0, 10.0, 4.0, 0.0])


def published(weight: Tensor, q: Tensor, k: Tensor, *, divided: bool) -> tuple[Tensor, Tensor]:
    """The steps of ContextPosSelfAttn in facebookresearch/RAM, written anew for a causal mask: mask and logits."""
    size = q.shape[2]
    mask, products = torch.ones(size, size).tril(), q @ k.mT
    gates = (products / math.sqrt(q.shape[-1])).sigmoid() * mask
    places = torch.stack([gates[..., j:].sum(-1) for j in range(size)], dim=-1).clamp(max=len(weight) - 1)
    by_row = torch.einsum("bhqd,pd->bhqp", q, weight)
    rows = torch.arange(len(weight)).view(-1, 1, 1, 1, 1)
    hat = (1 - (places - rows).abs()).clamp_min(0)  # linear interpolation as a sum over all rows
    added = torch.einsum("pbhqk,bhqp->bhqk", hat, by_row)
    root = math.sqrt(q.shape[-1])
    return mask > 0, (products + added) / root if divided else products / root + added


@pytest.mark.parametrize("divided", [True, False])
@pytest.mark.parametrize("rows", [3, 12])
def test_logits_are_those_of_the_published_code(rows: int, divided: bool) -> None:
    encoding = drawn(max_positions=rows) if divided else drawn(max_positions=rows, scale=1.0)
    q, k, place = normal(2, HEADS, 9, WIDTH), normal(2, HEADS, 9, WIDTH, seed=2), 30 + torch.arange(9)[None]
    seen, want = published(encoding.weight, q, k, divided=divided)
    got = q @ k.mT / math.sqrt(WIDTH) + encoding.content_bias(q, k, place, place)
    torch.testing.assert_close(got[..., seen], want[..., seen], rtol=0, atol=1e-5)


@pytest.mark.parametrize("rows", [3, 12])
def test_the_bias_is_that_of_x_transformers(rows: int) -> None:
    """It reads logits that are divided and masked already, and adds its own undivided."""
    theirs, ours = x_transformers().CoPE(dim=WIDTH, heads=HEADS, max_pos=rows), drawn(max_positions=rows, scale=1.0)
    with torch.no_grad():
        theirs.pos_emb.copy_(ours.weight)
    q, k, place = normal(2, HEADS, 9, WIDTH), normal(2, HEADS, 9, WIDTH, seed=2), torch.arange(9)[None]
    seen = torch.ones(9, 9, dtype=torch.bool).tril()
    logits = (q @ k.mT / math.sqrt(WIDTH)).masked_fill(~seen, -torch.finfo(torch.float32).max)
    got, want = ours.content_bias(q, k, place, place), theirs(q, logits)
    torch.testing.assert_close(got[..., seen], want[..., seen], rtol=0, atol=1e-5)


def test_gradients_are_the_slopes_of_the_formula() -> None:
    """Of the table, and of queries and keys through the counts."""
    encoding, place = CoPE(2, 3, max_positions=3).double(), torch.tensor([[0, 1, 3, 6]])
    redraw(encoding, std=0.7)
    q, k, weights = (normal(1, 2, 4, n, seed=s).double() for n, s in ((3, 1), (3, 2), (4, 3)))
    (encoding.content_bias(q.requires_grad_(), k.requires_grad_(), place, place) * weights).sum().backward()
    formula, at = content_formula(encoding), place[0].tolist()

    def total() -> float:
        rows = [formula(head, q[0, head].tolist(), k[0, head].tolist(), at, at) for head in range(2)]
        return (torch.tensor(rows, dtype=torch.float64) * weights[0]).sum().item()

    for name, leaf in {"weight": encoding.weight, "q": q, "k": k}.items():
        assert leaf.grad is not None
        indices = list(range(leaf.numel()))
        assert leaf.grad.view(-1).tolist() == pytest.approx(slopes(leaf, total, indices), abs=1e-7), name


def test_far_counts_keep_their_digits_in_bfloat16() -> None:
    """500 gates of 1/2 are 250; bfloat16 would stop at steps of 1 from 128 on."""
    encoding, place = CoPE(1, 4, max_positions=300).bfloat16(), torch.arange(500)[None]
    q, k = (x.bfloat16() for x in aligned([0.0] * 500))
    counts = encoding.counts(q, k, place[:, 499:], place)
    assert counts.dtype == torch.float32
    assert counts[0, 0, 0].tolist() == pytest.approx([(500 - j) / 2 for j in range(500)])


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("options", "said"),
    [({"num_heads": 0}, "num_heads=0"), ({"max_positions": 1}, "max_positions of at least 2, .* max_positions=1")],
)
def test_impossible_options_are_errors(options: dict[str, Any], said: str) -> None:
    with pytest.raises(GnomonError, match=said):
        CoPE(**{"num_heads": 2, "head_dim": 8, **options})


def test_heads_of_another_number_and_other_ids_are_errors() -> None:
    q, place = normal(1, 2, 2, WIDTH), torch.arange(2)[None]
    with pytest.raises(ShapeError, match="for 3 heads of width 8, the queries have 2 of width 8"):
        drawn().content_bias(q, q, place, place)
    with pytest.raises(PositionError, match="int64"):
        drawn().content_bias(q, q, place, place.int())


@pytest.mark.usefixtures("unchecked")
def test_it_traces_into_one_graph() -> None:
    encoding, q, place = drawn(), normal(2, HEADS, 4, WIDTH), torch.tensor([[2, 3, 90, 91]])
    traced = torch.compile(encoding.content_bias, fullgraph=True, backend="eager")
    torch.testing.assert_close(traced(q, q, place, place), encoding.content_bias(q, q, place, place))
