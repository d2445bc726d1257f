"""Measured facts join as lab results, with the points that their file gives them, where they fit."""

import json
from pathlib import Path
from typing import Any

import pytest

from gnomon.advisor import MeasuredFact, advise, read_measured
from gnomon.errors import GnomonError

FACT = {"encoding": "t5", "statement": "7.7 at 4 times the length", "source": "extrapolation, 3 seeds"}


def write(folder: Path, content: Any) -> Path:
    path = folder / "facts.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return path


def facts(*entries: Any) -> dict[str, Any]:
    return {"schema_version": 1, "facts": list(entries)}


def test_a_fact_is_evidence_and_moves_nothing_without_points(tmp_path: Path) -> None:
    path = write(tmp_path, facts(FACT))
    plain = advise("language-model", trained=512, target=1024)
    told = advise("language-model", trained=512, target=1024, measured=path)
    t5 = next(it for it in told.recommendations if it.name == "t5")
    assert [it.name for it in told.recommendations] == [it.name for it in plain.recommendations]
    assert "7.7 at 4 times the length" in [it.statement for it in t5.evidence if it.kind == "lab result"]


def test_a_fact_may_be_about_a_way_to_extend(tmp_path: Path) -> None:
    path = write(tmp_path, facts({**FACT, "encoding": "linear", "points": 2}))
    assert advise(family="llama", trained=2048, target=4096, measured=path).best.name == "linear"  # 3 + 2 against 4


def test_points_count_and_are_traced(tmp_path: Path) -> None:
    path = write(tmp_path, facts({**FACT, "points": 2}))
    told = advise("language-model", trained=512, target=1024, measured=path)
    assert told.best.name == "t5"  # 3 for twice the length and 2 measured; ALiBi has 4
    assert (told.best.total, told.best.points[0].rule) == (5, "measured_here")


@pytest.mark.parametrize("condition", [{"least_stretch": 4}, {"causal": False}])
def test_a_fact_of_another_situation_does_not_join(tmp_path: Path, condition: dict[str, Any]) -> None:
    path = write(tmp_path, facts({**FACT, "points": 5, **condition}))
    told = advise("language-model", trained=512, target=1024, measured=path)
    assert "measured_here" not in {it.rule for it in told.fired}


def test_a_file_is_read_whole(tmp_path: Path) -> None:
    entry = {**FACT, "points": -1, "least_stretch": 2, "causal": True}
    assert read_measured(write(tmp_path, facts(entry))) == (
        MeasuredFact("t5", FACT["statement"], FACT["source"], -1, 2.0, True),
    )


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("{", "no JSON file of measured facts"),
        ([], "holds no measured facts"),
        ({"schema_version": 2, "facts": []}, "holds no measured facts"),
        ({"schema_version": True, "facts": []}, "holds no measured facts"),
        (facts({**FACT, "statement": "two\nlines"}), "needs 'statement', a text on one line"),
        (facts({**FACT, "source": "a \x1b[31mcolour"}), "needs 'source', a text on one line"),
        (facts({**FACT, "statement": "half of a pair \ud800"}), "needs 'statement', a text on one line"),
        (facts({**FACT, "least_stretch": 10**400}), "least_stretch is a number from 1 to 2\\^40, got 1000"),
        (facts({**FACT, "causal": 1.0}), "causal is true, false or null, got 1.0"),
        (facts(7), "Fact 1 of .* is not an object of encoding, statement"),
        (facts({**FACT, "weight": 1}), "Fact 1 of .* is not an object of"),
        (facts({"encoding": "t5", "statement": " "}), "needs 'statement', a text"),
        (facts(FACT, {**FACT, "points": 6}), "Fact 2 of .*: points are a whole number from -5 to 5, got 6"),
        (facts({**FACT, "points": 1.5}), "points are a whole number"),
        (facts({**FACT, "least_stretch": 0.5}), "least_stretch is a number from 1 to 2\\^40, got 0.5"),
        (facts({**FACT, "causal": 1}), "causal is true, false or null, got 1"),
    ],
)
def test_a_bad_file_is_refused_with_its_reason(tmp_path: Path, content: Any, reason: str) -> None:
    with pytest.raises(GnomonError, match=reason):
        read_measured(write(tmp_path, content))


def test_a_fact_about_an_encoding_that_does_not_exist_is_refused(tmp_path: Path) -> None:
    with pytest.raises(GnomonError, match="no encoding is called 'tea5'"):
        advise("language-model", trained=512, measured=write(tmp_path, facts({**FACT, "encoding": "tea5"})))
