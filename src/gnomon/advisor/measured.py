"""Facts that the lab measured, from a JSON file: the place where measurements of your own join the advice.

The file is `{"schema_version": 1, "facts": [{"encoding": "alibi", "statement": "...", "source": "...", "points": 1,
"least_stretch": 2, "causal": true}]}`. `encoding` is a name of `gnomon list encodings`, or yarn, linear, ntk or
interpolate, the ways to extend a checkpoint. `points`, `least_stretch` and `causal` may be left out: a fact without
points is shown as evidence and moves nothing; one with a least stretch or a direction counts only for
descriptions that meet it.

gnomon's own facts are in lab.json beside this file, written by scripts/advisor_facts.py from studies of the lab.
"""

import json
from dataclasses import dataclass, fields
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from gnomon.errors import GnomonError

SCHEMA_VERSION = 1
MOST_STRETCH = 2.0**40
MOST_POINTS = 5  #: no measurement outweighs everything else


@dataclass(frozen=True)
class MeasuredFact:
    """One measurement about an encoding: a statement with its numbers, and how it was measured."""

    encoding: str
    statement: str
    source: str
    points: int = 0
    least_stretch: float = 1.0
    causal: bool | None = None


@cache
def shipped() -> tuple[MeasuredFact, ...]:
    """What gnomon's own lab measured; small models, so none of these facts has points."""
    data = json.loads((files("gnomon.advisor") / "lab.json").read_text(encoding="utf-8"))
    return tuple(MeasuredFact(**entry) for entry in data["facts"])


def read_measured(path: str | Path) -> tuple[MeasuredFact, ...]:
    """The facts in a file; raises GnomonError with one sentence when it is no such file."""
    try:
        data = json.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError, TypeError):
        raise GnomonError(f"There is no JSON file of measured facts at {str(path)!r}.") from None
    if (
        not isinstance(data, dict)
        or type(data.get("schema_version")) is not int
        or data["schema_version"] != SCHEMA_VERSION
        or not isinstance(data.get("facts"), list)
    ):
        raise GnomonError(
            f'{path} holds no measured facts: it must be {{"schema_version": {SCHEMA_VERSION}, "facts": [...]}}.'
        )
    return tuple(_fact(entry, f"Fact {place} of {path}") for place, entry in enumerate(data["facts"], 1))


def _fact(entry: Any, where: str) -> MeasuredFact:
    known = [field.name for field in fields(MeasuredFact)]
    if not isinstance(entry, dict) or not set(entry) <= set(known):
        raise GnomonError(f"{where} is not an object of {', '.join(known)}.")
    for name in ("encoding", "statement", "source"):
        text = entry.get(name)
        if not isinstance(text, str) or not text.strip() or not text.isprintable():
            raise GnomonError(f"{where} needs {name!r}, a text on one line.")
    _require_known(entry["encoding"], where)
    points, stretch, causal = entry.get("points", 0), entry.get("least_stretch", 1.0), entry.get("causal")
    if type(points) is not int or abs(points) > MOST_POINTS:
        raise GnomonError(f"{where}: points are a whole number from -{MOST_POINTS} to {MOST_POINTS}, got {points!r}.")
    if type(stretch) not in (int, float) or not 1 <= stretch <= MOST_STRETCH:
        raise GnomonError(f"{where}: least_stretch is a number from 1 to 2^40, got {str(stretch)[:40]}.")
    if causal is not None and type(causal) is not bool:
        raise GnomonError(f"{where}: causal is true, false or null, got {causal!r}.")
    return MeasuredFact(entry["encoding"], entry["statement"], entry["source"], points, float(stretch), causal)


def _require_known(name: str, where: str) -> None:
    """Raise GnomonError unless a fact is about an encoding, or about a way to extend one."""
    from gnomon.advisor.candidates import EXTENSIONS, INTERPOLATE
    from gnomon.encodings import registry

    ways = [candidate.name for candidate in (*EXTENSIONS, INTERPOLATE)]
    if name not in registry and name not in ways:
        raise GnomonError(f"{where}: no encoding is called {name!r}; known: {', '.join([*registry.names(), *ways])}.")
