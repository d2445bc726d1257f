"""PE512: rows that no batch reads."""

import pytest
import torch
from torch import Tensor

from tests.helpers.gallery_training import fixed
from tests.helpers.tiny_transformers import tiny_model
from tests.helpers.toys import Toy, examine, only_finding


def ids(length: int) -> Tensor:
    return torch.arange(2 * length).reshape(2, length) % 30 + 3


class FromOne(Toy):
    def ids(self, mask: Tensor) -> Tensor:
        return super().ids(mask) + 1


class EverySecond(Toy):
    def ids(self, mask: Tensor) -> Tensor:
        return super().ids(mask) * 2


def test_first_rows_that_are_skipped_are_a_warning() -> None:
    result = examine("PE512", FromOne(), batches=[{"tokens": ids(63)}])
    finding = only_finding(result)
    assert (result.severity, finding.where) == ("warning", "positions.weight")
    assert finding.measured == {"first row read": 1, "first usable row": 0}


def test_holes_are_a_warning() -> None:
    result = examine("PE512", EverySecond(), batches=[{"tokens": ids(32)}])
    [holes] = [f for f in result.findings if "holes" in f.measured]
    assert holes.measured["holes"] == 31


def test_an_unread_end_is_a_note_with_the_longest_position() -> None:
    result = examine("PE512", Toy(), batches=[{"tokens": ids(20)}, {"tokens": ids(48)}])
    assert (result.severity, only_finding(result).measured) == ("note", {"longest position": 47, "rows": 64})


@pytest.mark.parametrize("family", ["roberta", "opt", "gpt2"])
def test_reserved_rows_need_no_reader(family: str) -> None:
    length = {"roberta": 35}.get(family, 37)
    assert examine("PE512", tiny_model(family), batches=[{"input_ids": ids(length)}]).status == "passed"


def test_a_formula_needs_no_reader() -> None:
    assert examine("PE512", fixed(Toy(), trained=False), batches=[{"tokens": ids(9)}]).status == "not-applicable"
