"""Advice as JSON: plain values in a stated form, and nothing that needs torch."""

import json
import subprocess
import sys

from gnomon.report.advice.document import (
    Advice,
    Comparison,
    Cost,
    Evidence,
    Fired,
    Points,
    Recommendation,
    Risk,
    RuledOut,
)

BEST = Recommendation(
    "yarn",
    "rotary",
    "stretched",
    options={"head_dim": 64, "frequencies": {"kind": "yarn", "factor": 8.0}},
    numbers={"slopes": (0.5, 0.25)},
    points=(Points(4, "works", "some_rule"), Points(-1, "far", "other_rule")),
    steps=("fine-tune",),
    costs=(Cost("table", 4096, "bytes", "64 x 64"),),
    risks=(Risk("config differs", "PE102"),),
    evidence=(Evidence("arithmetic", "4 x 2 = 8", "by hand"),),
)
ADVICE = Advice(
    facts={"task": "code", "trained": 512},
    assumptions=("dim 512",),
    recommendations=(BEST, Recommendation("keep", "rotary", "as it is")),
    ruled_out=(RuledOut("learned", "learned", "too short", "some_rule"),),
    article=(Comparison("long", "sinusoids", "yarn", False, "they fail"),),
    fired=(Fired("some_rule", "It does.", "a table", {"trained": 512}, ("yarn: +4, works",)),),
    gnomon="0.0",
)


def test_the_json_form_is_the_documented_one() -> None:
    found = json.loads(ADVICE.to_json())
    assert list(found) == [
        *("schema_version", "gnomon", "facts", "assumptions", "recommendations", "ruled_out", "article", "fired")
    ]
    assert found["schema_version"] == 1
    assert found["recommendations"][0] == {
        "rank": 1,
        "total": 3,
        "name": "yarn",
        "encoding": "rotary",
        "title": "stretched",
        "options": {"head_dim": 64, "frequencies": {"kind": "yarn", "factor": 8.0}},
        "numbers": {"slopes": [0.5, 0.25]},
        "points": [
            {"points": 4, "why": "works", "rule": "some_rule"},
            {"points": -1, "why": "far", "rule": "other_rule"},
        ],
        "steps": ["fine-tune"],
        "costs": [{"name": "table", "value": 4096, "unit": "bytes", "how": "64 x 64"}],
        "risks": [{"message": "config differs", "check": "PE102"}],
        "evidence": [{"kind": "arithmetic", "statement": "4 x 2 = 8", "source": "by hand"}],
    }
    assert found["recommendations"][1]["rank"] == 2
    assert found["ruled_out"] == [{"name": "learned", "encoding": "learned", "why": "too short", "rule": "some_rule"}]
    assert found["article"][0]["agrees"] is False
    assert found["fired"][0]["facts"] == {"trained": 512}


def test_the_best_is_the_first() -> None:
    assert ADVICE.best is BEST
    assert BEST.total == 3


def test_nothing_of_it_imports_torch() -> None:
    code = "import gnomon.report.advice.text, sys; print('torch' in sys.modules)"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "False"
