import math

import pytest
import torch

from gnomon.errors import GnomonError
from gnomon.lab.measures import span_f1
from gnomon.lab.measures.span_f1 import SpanF1, spans
from gnomon.lab.tasks.base import IGNORED, Batch
from tests.helpers.lab_measured import fresh


@pytest.mark.parametrize(
    ("classes", "there"),
    [
        ([0, 0], set()),
        ([1, 2, 2], {(1, 0, 3)}),
        ([1, 1, 2], {(1, 0, 1), (1, 1, 3)}),  # two people side by side
        ([1, 4, 3], {(1, 0, 1), (2, 1, 2), (2, 2, 3)}),  # another kind cannot go on
        ([0, 6, 6, 0, 5], {(3, 1, 3), (3, 4, 5)}),
        ([1, IGNORED, 2], {(1, 0, 1), (1, 2, 3)}),
    ],
)
def test_names_are_read_from_classes(classes: list[int], there: set[tuple[int, int, int]]) -> None:
    assert spans(classes) == there


def scored(monkeypatch: pytest.MonkeyPatch, guessed: list[list[int]], labels: list[list[int]]) -> float:
    monkeypatch.setattr(span_f1, "answers", lambda *_: torch.tensor(guessed))
    batch = Batch(torch.zeros(len(labels), len(labels[0]), dtype=torch.int64), torch.tensor(labels))
    return SpanF1().score(fresh("nope", sight="causal"), batch, torch.Generator())


def test_a_name_is_right_when_its_kind_and_both_ends_are(monkeypatch: pytest.MonkeyPatch) -> None:
    labels = [[1, 2, 0, 3, 0], [0, 5, 6, 0, IGNORED]]
    assert scored(monkeypatch, [[1, 2, 0, 3, 0], [0, 5, 6, 0, 1]], labels) == 1.0  # padding is not read
    # Found: a person that is too short, a place that is right, a place where a group is. There: three.
    assert scored(monkeypatch, [[1, 0, 0, 3, 0], [0, 3, 4, 0, 0]], labels) == pytest.approx(2 * 1 / (3 + 3))
    assert scored(monkeypatch, [[0] * 5, [0] * 5], labels) == 0.0


def test_no_name_there_and_none_found_is_no_number(monkeypatch: pytest.MonkeyPatch) -> None:
    assert math.isnan(scored(monkeypatch, [[0, 0]], [[0, 0]]))


def test_rows_must_be_counted() -> None:
    with pytest.raises(GnomonError):
        SpanF1(rows=0)
