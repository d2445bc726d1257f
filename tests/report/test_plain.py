"""Plain data for JSON."""

import json
from dataclasses import dataclass
from pathlib import Path

from gnomon.report.plain import as_json, plain


@dataclass(frozen=True)
class Held:
    numbers: tuple[float, ...]
    where: Path


def test_what_json_cannot_hold_is_null_at_any_depth() -> None:
    held = {"a": [Held((1.0, float("nan")), Path("b"))], "c": {1: float("-inf")}, "d": True}
    assert plain(held) == {"a": [{"numbers": [1.0, None], "where": "b"}], "c": {"1": None}, "d": True}
    assert json.loads(as_json(held)) == plain(held)
