"""The JSON form: the keys that other programs rely on, and always valid JSON."""

import json
import math
from typing import Any

import numpy as np

from gnomon.report.document import CheckResult, Finding, FoundEncoding, Measured, Report
from tests.helpers.sample_report import sample_report


def strict(text: str) -> Any:
    """Parsed as the standard says: NaN and Infinity are no JSON."""

    def refuse(word: str) -> None:
        raise AssertionError(f"{word} is not JSON")

    return json.loads(text, parse_constant=refuse)


def test_the_keys_are_those_of_schema_version_1() -> None:
    data = strict(sample_report().to_json())
    assert list(data) == ["schema_version", "gnomon", "target", "encodings", "checks", "summary", "causes", "notes"]
    assert data["schema_version"] == 1
    assert all(set(e) == {"kind", "where", "options", "source"} for e in data["encodings"])
    keys = {"code", "name", "severity", "status", "seconds", "detail", "measured", "findings"}
    assert all(set(check) == keys for check in data["checks"])
    findings = [finding for check in data["checks"] for finding in check["findings"]]
    assert all({"where", "message", "fix", "measured"} <= set(finding) for finding in findings)
    assert data["summary"] == {"passed": 16, "failed": 3, "not-applicable": 5, "crashed": 1}
    assert data["checks"][0]["measured"]["norm ratio"]["threshold"] == 4.0


def test_values_that_json_does_not_know_stay_valid_json() -> None:
    odd = {"nan": math.nan, "inf": [math.inf], "numpy": np.float32(0.5), "int": np.int64(3), "flag": np.bool_(True)}
    check = CheckResult(
        "PE201",
        "finite",
        "error",
        "failed",
        measured=(Measured("largest", math.nan, math.inf),),
        findings=(Finding("a", "b", "c", odd),),
    )
    report = Report(
        "x", (FoundEncoding("rotary", "a", {"base": math.inf, "dtype": np.dtype("int64")}, "config"),), (check,)
    )
    data = strict(report.to_json())
    assert data["checks"][0]["measured"]["largest"] == {"value": "nan", "threshold": "inf", "why": ""}
    expected = {"nan": "nan", "inf": ["inf"], "numpy": 0.5, "int": 3, "flag": True}
    assert data["checks"][0]["findings"][0]["measured"] == expected
    assert data["encodings"][0]["options"] == {"base": "inf", "dtype": "int64"}
