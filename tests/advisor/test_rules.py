"""Each rule is one file with a source, fires for a description, and does not for another."""

import json
import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from gnomon.advisor import advise, rules_in_order
from gnomon.advisor.rule import STAGES, registry, rule
from gnomon.doctor.check import registry as checks
from gnomon.errors import GnomonError
from gnomon.report.advice.document import Advice

ROOT = Path(__file__).parents[2]
FILES = sorted(path.stem for path in (ROOT / "src/gnomon/advisor/rules").glob("*.py") if path.stem != "__init__")


@pytest.fixture(scope="session")
def every_answer(answers: Mapping[str, Advice], tmp_path_factory: pytest.TempPathFactory) -> list[Advice]:
    """The answers to the cases, and one that has a measured fact."""
    path = tmp_path_factory.mktemp("measured") / "facts.json"
    fact = {"encoding": "alibi", "statement": "6.2 at 2048 of 128", "source": "extrapolation, 3 seeds"}
    path.write_text(json.dumps({"schema_version": 1, "facts": [fact]}), encoding="utf-8")
    return [*answers.values(), advise("language-model", trained=128, measured=path)]


def test_every_file_is_one_rule_of_its_name() -> None:
    assert registry.names() == FILES
    assert len(FILES) > 50


@pytest.mark.parametrize("name", FILES)
def test_a_rule_says_when_it_fires_and_where_it_comes_from(name: str) -> None:
    found = registry.get(name)
    assert found.summary.endswith(".")
    assert len(found.summary) > 30
    assert len(found.source) > 15


@pytest.mark.parametrize("name", FILES)
def test_a_rule_fires_for_one_case_and_not_for_another(name: str, every_answer: list[Advice]) -> None:
    fired = [name in {it.rule for it in advice.fired} for advice in every_answer]
    assert any(fired), "no case makes this rule fire"
    assert not all(fired), "every case makes this rule fire"


def test_a_trace_tells_what_was_read_and_what_changed(every_answer: list[Advice]) -> None:
    for advice in every_answer:
        for trace in advice.fired:
            assert trace.changes
            assert trace.source == registry.get(trace.rule).source
            if trace.rule.startswith(("options", "cost")):
                assert trace.facts


def test_what_is_ruled_out_is_left_alone_from_then_on(every_answer: list[Advice]) -> None:
    for advice in every_answer:
        changes = [change for trace in advice.fired for change in trace.changes]
        for out in advice.ruled_out:
            assert [it for it in changes if it.startswith(f"{out.name}: ")] == [f"{out.name}: ruled out, {out.why}"]


def test_rules_are_asked_in_one_order(every_answer: list[Advice]) -> None:
    order = [it.name for it in rules_in_order()]
    assert sorted(order) == FILES
    stages = [STAGES.index(it.stage) for it in rules_in_order()]
    assert stages == sorted(stages)
    for advice in every_answer:
        places = [order.index(it.rule) for it in advice.fired]
        assert places == sorted(places)


def test_every_code_that_a_rule_names_is_a_check() -> None:
    for path in (ROOT / "src/gnomon/advisor").rglob("*.py"):
        assert set(re.findall(r"\bPE\d{3}\b", path.read_text(encoding="utf-8"))) <= set(checks.names()), path


def test_a_stage_that_does_not_exist_is_an_error() -> None:
    with pytest.raises(GnomonError, match=r"stage is one of exclusions, .*, got 'weights'"):
        rule(stage="weights", source="nowhere")  # type: ignore[arg-type]
