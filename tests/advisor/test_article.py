"""The article's table beside the advice: each row is recognised, and differences are explained."""

from collections.abc import Mapping
from typing import Any

import pytest

from gnomon.advisor import advise
from gnomon.report.advice.document import Advice

ROWS = {
    "article, long variable documents": ("long and variable input", False),
    "article, absolute and stable": ("absolute positions, stable lengths", True),
    "article, coreference": ("relative positions", True),
    "article, edge device": ("little hardware", False),
}


@pytest.mark.parametrize("case", ROWS)
def test_each_row_is_recognised_and_judged(case: str, answers: Mapping[str, Advice]) -> None:
    row, agrees = ROWS[case]
    [found] = [it for it in answers[case].article if it.row == row]
    assert found.agrees is agrees
    assert found.advised == answers[case].best.name
    assert len(found.why) > 100


def test_what_meets_no_row_is_compared_with_the_default() -> None:
    [found] = advise("language-model", trained=512).article
    assert (found.row, found.says, found.agrees) == ("anything else", "sinusoids by default", False)


def test_twice_the_trained_length_is_far() -> None:
    rows = [[it.row for it in advise("code", trained=512, target=target).article] for target in (1023, 1024)]
    assert rows == [["anything else"], ["long and variable input"]]


def test_several_rows_can_meet() -> None:
    advice = advise("pairs", trained=256, target=1024, device="edge")
    assert [it.row for it in advice.article] == ["long and variable input", "relative positions", "little hardware"]


@pytest.mark.parametrize("given", [{"task": "images"}, {"family": "llama", "trained": 2048}])
def test_the_table_says_nothing_of_images_and_checkpoints(given: dict[str, Any]) -> None:
    assert advise(**given).article == ()


def test_the_figures_without_a_public_source_are_not_repeated(answers: Mapping[str, Advice]) -> None:
    for advice in answers.values():
        text = advice.to_json()
        for figure in ("37%", "6.3", "82%", "88.7", "2.8 points"):
            assert figure not in text.replace("16.3", "").replace("36.3", ""), figure
