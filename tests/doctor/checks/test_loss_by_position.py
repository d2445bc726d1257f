"""PE510: the loss that rises where training ended."""

import pytest
import torch
from torch.nn import functional as F  # noqa: N812 - torch's own name for it

from gnomon.doctor.evidence.loss_by_position import loss_by_position
from tests.helpers.gallery_training import ROWS, TRAINED, LanguageModel, text, trained
from tests.helpers.toys import Toy, examine, only_finding, subject_of


def test_the_end_of_training_is_found() -> None:
    result = examine("PE510", trained(), trained=True, text=text(ROWS * 8, 2))
    finding = only_finding(result)
    assert (result.severity, finding.where) == ("warning", "positions from 16")
    assert finding.measured["usable length"] == TRAINED
    assert finding.measured["loss"] - finding.measured["best loss"] > 0.3


def test_within_the_trained_length_it_passes() -> None:
    result = examine("PE510", trained(), trained=True, text=text(32 * 4, 2))
    assert result.status == "failed"  # rows of 32 tokens reach beyond the sixteen of training
    model = trained()
    with torch.no_grad():
        table = model.positions.weight.clone()
        model.positions.weight[TRAINED:] = table[torch.arange(TRAINED, ROWS) % TRAINED]
    try:
        assert examine("PE510", model, trained=True, text=text(ROWS * 8, 2)).status == "passed"
    finally:
        with torch.no_grad():
            model.positions.weight.copy_(table)


def test_the_losses_are_those_of_cross_entropy() -> None:
    tokens = text(ROWS * 4, 2)
    found = loss_by_position(subject_of(trained(), trained=True, text=tokens))
    assert [(b.start, b.stop) for b in found] == [(0, 4), (4, 8), (8, 16), (16, 32), (32, 64), (64, 127)]
    rows = tokens.reshape(4, ROWS)
    with torch.no_grad():
        expected = F.cross_entropy(trained()(rows)[:, 8:16].flatten(0, 1), rows[:, 9:17].flatten())
    assert found[2].mean == pytest.approx(float(expected), rel=1e-4)


@pytest.mark.parametrize(
    ("model", "evidence", "why"),
    [
        (LanguageModel(), {"trained": False, "text": text(512, 1)}, "do not come from a checkpoint"),
        (LanguageModel(), {"trained": True}, "no text"),
        (LanguageModel(), {"trained": True, "text": text(100, 1)}, "at least 128"),
        (Toy(), {"trained": True, "text": text(512, 1)}, "looks both ways"),
    ],
)
def test_what_is_missing_is_said(model: Toy, evidence: dict[str, object], why: str) -> None:
    result = examine("PE510", model, **evidence)
    assert result.status == "not-applicable"
    assert why in result.detail
