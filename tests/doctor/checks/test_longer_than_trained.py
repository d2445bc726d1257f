"""PE513: inputs in use against the batches of training."""

import pytest
import torch
from torch import Tensor

from gnomon.doctor.diagnosis import diagnose
from gnomon.doctor.evidence.batches import batch_arguments
from gnomon.errors import GnomonError
from tests.helpers.toys import Toy, examine, llama, only_finding, subject_of


def ids(length: int) -> Tensor:
    return torch.arange(length)[None] % 30 + 3


def test_longer_inputs_are_counted() -> None:
    result = examine("PE513", Toy(), batches=[{"tokens": ids(16)}, {"tokens": ids(9)}], lengths=[8, 16, 17, 50])
    finding = only_finding(result)
    assert (result.severity, finding.where) == ("warning", "positions.weight")
    assert finding.measured == {"longest in training": 16, "longest in use": 50, "share": 0.5}
    assert "cut inputs to 16 tokens" in finding.fix


def test_a_model_without_a_table_is_only_noted() -> None:
    result = examine("PE513", llama(), batches=[{"input_ids": ids(16)}], lengths=[17])
    assert (result.severity, only_finding(result).where) == ("note", "the inputs in use")


def test_inputs_within_training_pass() -> None:
    assert examine("PE513", Toy(), batches=[{"tokens": ids(16)}], lengths=[16, 2]).status == "passed"


def test_both_kinds_of_evidence_are_needed() -> None:
    assert examine("PE513", Toy(), lengths=[3]).detail == "no batches"
    assert examine("PE513", Toy(), batches=[{"tokens": ids(16)}]).detail == "no lengths"


def test_batches_that_are_no_list_are_refused() -> None:
    with pytest.raises(GnomonError, match="batches is a list of forward arguments"):
        batch_arguments(subject_of(Toy(), batches={"tokens": ids(4)}))


def test_it_is_reached_from_diagnose() -> None:
    report = diagnose(Toy(), select="PE513", batches=[{"tokens": ids(16)}], lengths=[20])
    assert [c.status for c in report.checks] == ["failed"]
