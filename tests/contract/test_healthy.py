"""No false alarm: every check on models that are right, of every kind. A doctor that cries wolf is switched off.

What a released library really does wrong stands in `known_findings`; a finding that is listed there must be made.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gnomon.adapters import load_subject
from gnomon.doctor.runner import chosen, run_all
from gnomon.report.document import CheckResult
from tests.helpers.healthy import MODELS, OWN
from tests.helpers.healthy_plain import PLAIN
from tests.helpers.healthy_transformers import BY_MODALITY, ROWS
from tests.helpers.known_findings import FAULTS, WARNINGS, codes

ALL: dict[str, Callable[[], Any]] = {**MODELS, **{name: row.build for name, row in ROWS.items()}, **PLAIN}
#: gnomon computes angles in float64 by choice, for the last bit of float32 at any position
FLOAT64 = "PE606"
CHECKS_AT_LEAST = 4  # must pass on each: a doctor that examines nothing is silent too


@pytest.mark.parametrize("name", ALL)
def test_no_check_finds_more_in_a_healthy_model_than_what_is_true(name: str) -> None:
    results = run_all(chosen(None, None), load_subject(ALL[name]()))
    assert [c.detail for c in results if c.status == "crashed"] == []
    found = {severity: _found(results, severity) for severity in ("error", "warning")}
    if name in OWN:
        found["warning"].pop(FLOAT64, None)
    said = f"{name}: " + "; ".join(f"{code}: {message}" for of in found.values() for code, message in of.items())
    assert found["error"].keys() == codes(FAULTS, name), said
    assert found["warning"].keys() == codes(WARNINGS, name), said
    assert sum(c.status == "passed" for c in results) >= CHECKS_AT_LEAST


def _found(results: tuple[CheckResult, ...], severity: str) -> dict[str, str]:
    return {c.code: c.findings[0].message for c in results if c.status == "failed" and c.severity == severity}


def test_there_are_as_many_models_of_every_kind_as_are_promised() -> None:
    classes = {row.model for row in ROWS.values()}
    assert len(classes) >= 60
    assert all(len(rows) >= 10 for rows in BY_MODALITY.values())
    kinds = ("rotary", "learned", "sinusoidal", "alibi", "buckets", "transformer_xl", "disentangled", "convolution")
    assert [kind for kind in kinds if not any(kind in row.encoding for row in ROWS.values())] == []
    assert len(PLAIN) >= 20


def test_every_known_finding_is_about_a_model_that_is_examined() -> None:
    assert [model for known in (*FAULTS, *WARNINGS) for model in known.models if model not in ALL] == []


def test_the_page_names_every_model_and_every_true_finding() -> None:
    page = (Path(__file__).parents[2] / "docs" / "no-false-alarms.md").read_text()
    assert [row.model for row in ROWS.values() if f"`{row.model}`" not in page] == []
    assert [name for name in PLAIN if f"\n- {name}\n" not in page] == []
    rows = [
        f"| {known.code} | {', '.join(f'`{m}`' for m in known.models)} | {known.why} |" for known in FAULTS + WARNINGS
    ]
    assert [row for row in rows if row not in page] == []
