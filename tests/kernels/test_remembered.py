"""What is kept for the positions of the last call is never that of other positions, and never in the way."""

import copy
import gc
import pickle
import weakref
from collections.abc import Callable

import torch
from torch import Tensor

from gnomon.kernels.remembered import Remembered, _Last, _same
from gnomon.kernels.tables import Pair


class Counted:
    """Computes (positions, -positions) in a dtype, and counts how often."""

    def __init__(self) -> None:
        self.calls = 0

    def of(self, positions: Tensor, dtype: torch.dtype = torch.float32) -> Callable[[], Pair]:
        def compute() -> Pair:
            self.calls += 1
            return positions.to(dtype), -positions.to(dtype)

        return compute

    def through(self, remembered: Remembered, positions: Tensor, dtype: torch.dtype = torch.float32) -> Tensor:
        first, second = remembered.of(positions, dtype, self.of(positions, dtype))
        assert torch.equal(second, -first)
        assert torch.equal(first, positions.to(dtype))
        return first


def test_layers_share_what_one_of_them_computed() -> None:
    remembered, counted, positions = Remembered(), Counted(), torch.tensor([[4, 5, 6]])
    results = [counted.through(remembered, positions) for _ in range(5)]
    assert counted.calls == 1
    assert all(result is results[0] for result in results)


def test_positions_changed_in_place_are_other_positions() -> None:
    remembered, counted, positions = Remembered(), Counted(), torch.tensor([[4, 5, 6]])
    counted.through(remembered, positions)
    positions.add_(1)
    counted.through(remembered, positions)
    positions[0, 2] = 99
    counted.through(remembered, positions)
    assert counted.calls == 3


def test_changes_behind_the_version_are_seen_on_the_cpu() -> None:
    remembered, counted, positions = Remembered(), Counted(), torch.tensor([[4, 5, 6]])
    counted.through(remembered, positions)
    positions.numpy()[0, 1] = 50
    counted.through(remembered, positions)
    positions.data.add_(1)
    counted.through(remembered, positions)
    assert counted.calls == 3


def test_on_a_device_whose_values_are_not_read_the_version_decides() -> None:
    positions = torch.tensor([[1, 2]])
    last = _Last(weakref.ref(positions), positions._version, None, torch.float32, (torch.ones(1), torch.ones(1)))
    assert _same(last, positions)
    positions.add_(1)
    assert not _same(last, positions)


def test_other_tensors_other_dtypes_and_views_are_computed() -> None:
    remembered, counted = Remembered(), Counted()
    base = torch.arange(6).view(2, 3)
    for positions in (base[:1], base[1:], base, base.expand(2, 3), torch.arange(6).view(2, 3)):
        counted.through(remembered, positions)
    counted.through(remembered, base, torch.float64)
    counted.through(remembered, base, torch.float32)
    assert counted.calls == 7


def test_the_result_goes_when_the_positions_go() -> None:
    remembered, counted, positions = Remembered(), Counted(), torch.tensor([[4, 5, 6]])
    counted.through(remembered, positions)
    assert remembered._last is not None
    del positions, counted
    gc.collect()
    assert remembered._last is None


def test_new_positions_are_not_dropped_with_the_old_ones() -> None:
    remembered, counted, old, new = Remembered(), Counted(), torch.tensor([[1]]), torch.tensor([[2]])
    counted.through(remembered, old)
    counted.through(remembered, new)
    del old
    gc.collect()
    counted.through(remembered, new)
    assert counted.calls == 2


def test_no_gradient_and_no_inference_tensor_is_kept() -> None:
    remembered, positions = Remembered(), torch.tensor([[1, 2]])
    weight = torch.ones(1, requires_grad=True)
    with torch.inference_mode():
        first, _ = remembered.of(positions, torch.float32, lambda: (positions * weight, positions * weight))
    assert not first.is_inference()
    again, _ = remembered.of(positions, torch.float32, lambda: (positions * weight, positions * weight))
    assert again is first
    assert not again.requires_grad


def test_positions_without_a_version_are_computed_each_time() -> None:
    remembered, counted = Remembered(), Counted()
    with torch.inference_mode():
        positions = torch.tensor([[1, 2]])
        counted.through(remembered, positions)
        positions.add_(3)
        counted.through(remembered, positions)
    assert counted.calls == 2


def test_nothing_is_kept_under_a_transform() -> None:
    remembered, counted = Remembered(), Counted()

    def shifted(positions: Tensor) -> Tensor:
        first, _ = remembered.of(positions, torch.float32, counted.of(positions))
        return first + 1

    positions = torch.arange(6).view(2, 3)
    assert torch.equal(torch.func.vmap(shifted)(positions), positions + 1.0)
    assert remembered._last is None


def test_copies_and_pickles_start_empty() -> None:
    remembered, counted, positions = Remembered(), Counted(), torch.tensor([[4, 5, 6]])
    counted.through(remembered, positions)
    for other in (copy.deepcopy(remembered), copy.copy(remembered), pickle.loads(pickle.dumps(remembered))):
        assert other._last is None
    assert remembered._last is not None
