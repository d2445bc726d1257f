"""Orders of prediction, and the masks that follow from them."""

import pytest
import torch
from torch import Tensor

from gnomon.attention import factorization_order, permutation_mask
from gnomon.errors import GnomonError, ShapeError


def seeded(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def paper_mask(order: list[int], masked: list[bool], functional: list[bool]) -> list[list[bool]]:
    """`_local_perm` of the authors' pipeline in plain Python: who may not see whom in one row."""
    rank = [place if m or f else -1 for place, m, f in zip(order, masked, functional, strict=True)]
    own = [r if m and not f else r + 1 for r, m, f in zip(rank, masked, functional, strict=True)]
    return [[own[i] <= rank[j] and (masked[j] or functional[j]) for j in range(len(order))] for i in range(len(order))]


def test_masks_are_those_of_the_authors_pipeline() -> None:
    generator = seeded()
    kinds = torch.randint(3, (20, 9), generator=generator)
    targets, functional = kinds == 1, kinds == 2
    order = factorization_order(20, 9, generator=generator)
    mask = permutation_mask(targets, order=order, functional=functional)
    for row in range(20):
        wanted = paper_mask(order[row].tolist(), targets[row].tolist(), functional[row].tolist())
        assert mask[row].tolist() == wanted


@pytest.mark.parametrize("length", [1, 6, 7])
def test_each_row_is_an_order_of_its_own_and_follows_the_seed(length: int) -> None:
    order = factorization_order(50, length, generator=seeded(3))
    assert order.dtype == torch.int64
    assert torch.equal(order.sort(-1).values, torch.arange(length).expand(50, -1))
    assert torch.equal(order, factorization_order(50, length, generator=seeded(3)))
    if length > 1:
        assert not torch.equal(order, factorization_order(50, length, generator=seeded(4)))
        assert len({tuple(row) for row in order.tolist()}) > 40


def test_every_place_is_as_likely_for_every_token() -> None:
    order = factorization_order(6000, 5, generator=seeded())
    share = torch.nn.functional.one_hot(order, 5).float().mean(0)
    torch.testing.assert_close(share, torch.full((5, 5), 0.2), atol=0.025, rtol=0)  # over four standard deviations


def test_blocks_follow_one_another_at_any_length() -> None:
    order = factorization_order(30, 8, generator=seeded(), block=3)
    for start, end in ((0, 3), (3, 6), (6, 8)):
        assert torch.equal(order[:, start:end].sort(-1).values, torch.arange(start, end).expand(30, -1))
    everything = torch.ones(30, 8, dtype=torch.bool)
    mask = permutation_mask(everything, order=order)
    assert bool(mask[:, :3, 3:].all())
    assert not bool(mask[:, 3:, :3].any())


def by_hand(mask: Tensor) -> list[list[int]]:
    return mask.int().tolist()


def test_context_is_seen_by_all_and_sees_no_target() -> None:
    targets = torch.tensor([[True, False, True, True], [False, False, False, True]])
    order = torch.tensor([[2, 0, 3, 1], [0, 1, 2, 3]])
    mask = permutation_mask(targets, order=order)
    assert by_hand(mask[0]) == [[1, 0, 1, 0], [1, 0, 1, 1], [0, 0, 1, 0], [1, 0, 1, 1]]
    assert by_hand(mask[1]) == [[0, 0, 0, 1]] * 4


def test_a_mask_can_draw_its_own_orders() -> None:
    targets = torch.ones(2, 6, dtype=torch.bool)
    drawn = permutation_mask(targets, generator=seeded(1))
    assert torch.equal(drawn, permutation_mask(targets, order=factorization_order(2, 6, generator=seeded(1))))
    assert not torch.equal(drawn[0], drawn[1])


@pytest.mark.usefixtures("unchecked")
def test_what_is_missing_or_does_not_fit_is_named() -> None:
    targets = torch.ones(2, 6, dtype=torch.bool)
    with pytest.raises(GnomonError, match=r"needs an order or a torch\.Generator"):
        permutation_mask(targets)
    with pytest.raises(ShapeError, match="Functional tokens have shape"):
        permutation_mask(targets, generator=seeded(), functional=targets[:, :5])
    with pytest.raises(GnomonError, match="at least 1"):
        factorization_order(2, 6, generator=seeded(), block=0)


@pytest.mark.parametrize("order", [[[0, 1, 1]], [[-1, 0, 1]]])
def test_an_order_with_ties_or_negative_places_is_refused(order: list[list[int]]) -> None:
    with pytest.raises(GnomonError, match="a place of its own, 0 or more"):
        permutation_mask(torch.ones(1, 3, dtype=torch.bool), order=torch.tensor(order))


@pytest.mark.usefixtures("unchecked")
def test_an_order_of_another_shape_is_refused() -> None:
    with pytest.raises(ShapeError, match=r"shape \(1, 3\), the targets \(2, 3\)"):
        permutation_mask(torch.ones(2, 3, dtype=torch.bool), order=torch.tensor([[0, 1, 2]]))
