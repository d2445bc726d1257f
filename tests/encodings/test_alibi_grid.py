"""ALiBi on a grid: both metrics, any shape, tokens without a place, and data2vec's numbers."""

import math
from collections.abc import Iterator
from functools import partial

import pytest
import torch

from gnomon.encodings import ALiBi, ALiBiGrid
from gnomon.encodings.alibi_grid import Metric, reference
from gnomon.errors import GnomonError, PositionError, ShapeError
from gnomon.positions import grid as places
from gnomon.testing import Reference
from tests.helpers.case import Case
from tests.helpers.mutated_encodings import AllZero, FalselyRelative, FirstRowForAll, SignFlipped, Wrapped
from tests.helpers.mutated_precision import Bfloat16Ids

METRICS: tuple[Metric, ...] = ("euclidean", "manhattan")


def cases() -> Iterator[Case]:
    for heads, axes in ((6, 2), (3, 3)):
        for metric in METRICS:
            bias = partial(reference, num_heads=heads, metric=metric)
            made = ALiBiGrid(heads, axes=axes, metric=metric)
            yield Case(f"alibi_grid-{heads}-{metric}", made, Reference(bias=bias))


def mutations() -> list[tuple[type[Wrapped], str, set[str]]]:
    name = "alibi_grid-6-euclidean"
    return [
        (SignFlipped, name, set()),
        (AllZero, name, {"uses_position"}),
        (Bfloat16Ids, name, {"shift_invariance"}),
        (FalselyRelative, name, {"shift_invariance"}),
        (FirstRowForAll, "alibi_grid-3-manhattan", set()),
    ]


def test_golden_distances_of_a_grid_of_two_by_three() -> None:
    place = places(2, 3)
    euclidean, manhattan = (ALiBiGrid(1, metric=metric).bias(place, place)[0, 0] * -256 for metric in METRICS)
    assert euclidean[0].tolist() == pytest.approx([0, 1, 2, 1, math.sqrt(2), math.sqrt(5)])
    assert manhattan[4].tolist() == [2, 1, 2, 1, 0, 1]  # from the middle of the second row


def test_along_one_row_it_is_alibi() -> None:
    along = torch.tensor([[4, 0, 9, 17]])
    place = torch.stack((torch.full_like(along, 3), along), dim=-1)
    for metric in METRICS:
        assert torch.equal(ALiBiGrid(12, metric=metric).bias(place, place), ALiBi(12).bias(along, along))


@pytest.mark.parametrize("metric", METRICS)
def test_every_row_of_the_batch_has_its_own_queries_and_keys(metric: Metric) -> None:
    queries = torch.tensor([[[7, 3], [0, 5]]])
    keys = torch.tensor([[[1, 7], [7, 3], [4, 0]], [[0, 2], [-1, -1], [9, 9]]])
    bias = ALiBiGrid(5, metric=metric).bias(queries, keys)
    assert bias.shape == (2, 5, 2, 3)
    for row, head, i, j in ((0, 4, 0, 1), (0, 2, 1, 0), (1, 0, 0, 2), (1, 3, 1, 0), (1, 1, 0, 1)):
        want = reference(head, queries[0, i].tolist(), keys[row, j].tolist(), num_heads=5, metric=metric)
        assert bias[row, head, i, j].item() == pytest.approx(want)


def test_tokens_without_a_place_neither_give_nor_get_a_penalty() -> None:
    place = places(3, 4, prefix=2)
    bias = ALiBiGrid(2).bias(place, place)
    assert not bias[:, :, :2].any()
    assert not bias[..., :2].any()
    assert torch.equal(bias[:, :, 2:, 2:], ALiBiGrid(2).bias(places(3, 4), places(3, 4)))


def test_a_far_place_keeps_its_digits() -> None:
    """10^6 + 1 squared is past what 32 bits of an integer hold, and what a float32 tells apart."""
    ends = torch.tensor([[[0, 0]]]), torch.tensor([[[1_000_001, 3]]])
    want = -math.sqrt(1_000_001**2 + 9) / 256
    assert ALiBiGrid(1).bias(*ends).item() == pytest.approx(want, rel=1e-7)


@pytest.mark.usefixtures("unchecked")
def test_impossible_options_and_positions_are_errors() -> None:
    with pytest.raises(GnomonError, match="at least 1 head, got num_heads=0"):
        ALiBiGrid(0)
    with pytest.raises(GnomonError, match="at least 2 axes, got axes=1"):
        ALiBiGrid(2, axes=1)
    with pytest.raises(GnomonError, match="one of euclidean, manhattan, got 'chessboard'"):
        ALiBiGrid(2, metric="chessboard")  # type: ignore[arg-type]
    with pytest.raises(ShapeError, match="need 3 coordinates each"):
        ALiBiGrid(2, axes=3).bias(places(2, 3), places(2, 3))
    with pytest.raises(PositionError, match="must be int64"):
        ALiBiGrid(2).bias(places(2, 3).float(), places(2, 3))


@pytest.mark.usefixtures("unchecked")
def test_it_traces_into_one_graph() -> None:
    encoding, place = ALiBiGrid(3), places(2, 3)
    traced = torch.compile(encoding.bias, fullgraph=True, backend="eager")(place, place)
    torch.testing.assert_close(traced, encoding.bias(place, place))
