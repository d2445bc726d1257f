"""PE408: after the rows of a cache were reordered, they go on otherwise than alone."""

from typing import Any

import pytest
import torch
from torch import Tensor

from gnomon.encodings import ALiBi, Rotary
from tests.helpers.gallery_caches import Filling, Offsets
from tests.helpers.gallery_decoding import KeysValues, Masked, Returning, tokens
from tests.helpers.healthy import MODELS, decoder
from tests.helpers.toys import examine, only_finding


class KeysAlone(Filling):
    """Values stay with the row that they were computed for."""

    def make_cache(self) -> Offsets:
        class Half(Offsets):
            def reorder(self, rows: Tensor) -> None:
                self.layers = {i: (k[rows], v) for i, (k, v) in self.layers.items()}

        return Half()


class Reordering(Masked):
    """The model reorders a returned cache, as transformers' models did."""

    def _reorder_cache(self, past: KeysValues, rows: Tensor) -> KeysValues:
        return [(k[rows], v[rows]) for k, v in past]


class ShiftsStay(Reordering):
    """Keeps how far each row is shifted by padding when the first call comes, and leaves it there."""

    shift: Any = None

    def from_mask(self, real: Tensor, new: int, past: int) -> Tensor:
        if not past:
            self.shift = super().from_mask(real, real.shape[1], 0)[:, -1:] - real.shape[1] + 1
        return torch.arange(past, past + new)[None].add(self.shift).clamp(min=0)


def test_values_that_stay_behind_are_found() -> None:
    result = examine("PE408", tokens(KeysAlone()))
    finding = only_finding(result)
    assert result.severity == "error"
    assert finding.message.startswith("after reorder, rows that swapped go on ")
    assert "offsets and stored positions of each row together" in finding.fix


def test_a_shift_of_each_row_that_stays_behind_is_found() -> None:
    finding = only_finding(examine("PE408", tokens(ShiftsStay())))
    assert finding.message.startswith("after _reorder_cache, rows padded differently that swapped go on ")


def test_hand_written_caches_that_move_whole_rows_pass() -> None:
    for target in (Filling(), Reordering()):
        result = examine("PE408", tokens(target))
        assert result.status == "passed", (result.detail, result.findings)


@pytest.mark.parametrize("name", ["llama", "gpt-2", "bloom", "gemma3", "decoder, alibi"])
def test_healthy_families_pass(name: str) -> None:
    result = examine("PE408", MODELS[name]())
    assert result.status == "passed", (result.detail, result.findings)
    assert len(result.measured) == 2


def test_our_own_cache_is_reordered_with_its_masks() -> None:
    for encoding in (Rotary(8), ALiBi(4)):
        assert examine("PE408", decoder(encoding)).status == "passed"


def test_a_cache_without_rows_to_move_is_not_judged() -> None:
    result = examine("PE408", tokens(Returning()))
    assert result.status == "not-applicable"
    assert result.detail == "neither the cache nor the model offers a method to reorder its rows"
