"""PE701: lengths against what the model can take."""

from typing import Any

import pytest

from gnomon.adapters.subject import Subject
from gnomon.doctor import run
from gnomon.doctor.evidence.length_limits import length_limits
from tests.helpers.healthy import FOREIGN
from tests.helpers.subjects import claim, holding, noise, rotary_claim, value
from tests.helpers.tiny_transformers import tiny_model
from tests.helpers.toys import Toy, examine, only_finding, subject_of


def rotary(stated: int, **rule: Any) -> Subject:
    found = rotary_claim(8, **rule)
    return Subject("x", claims=(type(found)(found.kind, found.where, {**found.options, "stated_length": stated}),))


def test_inputs_beyond_a_table_are_counted_with_the_tokens_they_lose() -> None:
    result = examine("PE701", Toy(rows=100), lengths=[50] * 96 + [128] * 4)
    finding = only_finding(result)
    assert (result.severity, finding.where) == ("warning", "positions.weight")
    assert value(result, "inputs longer than the limit") == 0.04
    assert finding.measured["tokens lost"] == pytest.approx(4 * 28 / (96 * 50 + 4 * 128))
    assert finding.message.endswith("they are cut or fail")


def test_a_few_long_inputs_are_a_note() -> None:
    assert examine("PE701", Toy(rows=100), lengths=[50] * 999 + [128]).severity == "note"


def test_inputs_that_fit_pass() -> None:
    assert examine("PE701", Toy(rows=100), lengths=[100, 3, 0]).status == "passed"


@pytest.mark.parametrize(
    ("family", "limit"), [("roberta", 35), ("bart", 37), ("whisper", 19), ("gpt2", 37), ("bert", 37)]
)
def test_reserved_rows_and_tables_of_sound_are_not_counted(family: str, limit: int) -> None:
    [first, *_] = length_limits(subject_of(tiny_model(family)))
    assert (first.tokens, first.hard) == (limit, True)


def test_images_are_no_text() -> None:
    assert examine("PE701", tiny_model("vit"), lengths=[3]).status == "not-applicable"


def test_a_rotary_model_runs_on_beyond_its_stated_length() -> None:
    finding = only_finding(examine("PE701", FOREIGN["llama"](), lengths=[65]))
    assert "positions beyond the stated length" in finding.message


@pytest.mark.parametrize(
    ("rule", "limit"),
    [
        ({}, 64),
        ({"kind": "yarn", "factor": 4.0, "original_max_length": 32}, 128),
        ({"kind": "yarn", "factor": 2.0, "original_max_length": 16}, 64),
        ({"kind": "linear", "factor": 2.0}, 128),
        ({"kind": "linear", "factor": "2"}, 64),
    ],
)
def test_scaling_extends_the_limit(rule: dict[str, Any], limit: int) -> None:
    assert [found.tokens for found in length_limits(rotary(64, **rule))] == [limit]


def test_a_table_in_a_file_is_enough() -> None:
    subject = holding({"position_embeddings.weight": noise(20, 6)}, claims=(claim("learned"),), lengths=[21])
    assert run("PE701", subject).status == "failed"


def test_what_is_missing_is_said() -> None:
    assert examine("PE701", Toy()).detail == "no lengths"
    assert "states how many positions" in run("PE701", Subject("x", lengths=[3])).detail
