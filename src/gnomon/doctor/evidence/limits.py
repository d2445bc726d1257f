"""How long an input a model takes: what is stated, what runs, what a longer one gives, and whether positions repeat."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from jaxtyping import Float64

from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.doctor.evidence.base import attempt, evidence
from gnomon.doctor.evidence.calling import Model, model, stated_limit
from gnomon.doctor.evidence.entry import entry
from gnomon.doctor.evidence.trace import trace, trace_forward
from gnomon.doctor.evidence.used import rows_added

LONGEST = 600  # tokens in one forward
LONGEST_LARGE = 160  # the same for a model of more than MANY numbers
MANY = 40_000_000
SAME = 1e-6  # of the size of the rows
WHOLE_STEP = 0.1  # of the largest step from one row to the next


@dataclass(frozen=True)
class Limit:
    """`runs`: the greatest length, or number of position ids, that runs; None when none was found up to `tried`.

    `error`: what one more gives, `stated`: what config, claims or tables say, `by`: how it was tried.
    """

    stated: int | None
    runs: int | None
    tried: int
    error: BaseException | None
    by: Literal["length", "position ids"]


@dataclass(frozen=True)
class Repeats:
    """Positions that are not told apart: all from `first` on are as `first` - 1, or they start again from 0 there.

    Or neighbours share one, `first` being the first that has what the one before it has.
    """

    where: str
    first: int
    how: Literal["clamped", "wrapped round", "shared"]
    count: int = 0  #: neighbours that share one


@evidence
def limit(subject: Subject) -> Limit:
    """Tries the stated length and one more; without one, lengths up to some hundred."""
    probe, stated = model(subject), stated_limit(subject)
    most = _most(probe)
    probe.length(2)  # refuses images
    by: Literal["length", "position ids"] = "length"
    run = _by_length(probe)
    if stated is not None and stated + 1 > most:
        if probe.signature.positions is None:
            raise MissingEvidence(f"the stated {stated} positions are more than one forward tries here ({most})")
        by, run = "position ids", _by_ids(probe)
    tried = most if stated is None else stated + 1
    error = run(tried)
    if error is None:
        return Limit(stated, None, tried, None, by)
    runs = tried - 1 if stated is not None and run(tried - 1) is None else _greatest(run, tried)
    return Limit(stated, runs, tried, run(runs + 1), by)


@evidence
def repeats(subject: Subject) -> tuple[Repeats, ...]:
    """Where the vectors or angles of positions repeat, in the longest input that runs here."""
    probe, found = model(subject), limit(subject)
    length = min(found.runs or found.tried, _most(probe))
    if found.by == "position ids":
        length = _most(probe)
    if length < 4:
        raise MissingEvidence(f"the model takes {length} positions, too few to repeat")
    rows = list(_rows(subject, probe, length))
    if not rows:
        raise MissingEvidence("positions arrive neither as vectors on the embeddings nor as angles of a rotation")
    return tuple(r for where, values in rows if (r := _repeats(where, values)) is not None)


def _rows(subject: Subject, probe: Model, length: int) -> list[tuple[str, Float64[np.ndarray, "positions columns"]]]:
    """What stands for each position: the vectors that are added, and the angles of the first rotation."""
    found = attempt(entry, subject)
    rows = []
    if found is not None and found.axis == "sequence" and not found.attentions_before:
        rows.append((found.where, rows_added(probe, found.where, length)))
    if not any(r.axis == "sequence" for r in trace(subject).rotations):
        return rows
    rotations = [r for r in trace_forward(probe, probe.draw(2, length)).rotations if r.axis == "sequence"]
    if rotations:
        rows.append((rotations[0].where, rotations[0].angles()[0].double().numpy()))
    return rows


def _repeats(where: str, rows: Float64[np.ndarray, "positions columns"]) -> Repeats | None:
    """Rows at the end that all are the same, or that are the first ones over again; or neighbours that are alike."""
    near = SAME * float(np.abs(rows).max())
    as_last = np.abs(rows - rows[-1]).max(axis=1) <= near
    start = len(rows) - int(np.argmin(as_last[::-1])) if not as_last.all() else 0
    steps = np.abs(np.diff(rows[: start + 1], axis=0)).max(axis=1, initial=0.0)
    alike = np.flatnonzero(steps <= near)
    # A state that settles takes ever smaller steps; shared positions go on with a whole one.
    if len(alike) > 1 and steps[alike[1] :].max() > WHOLE_STEP * steps.max():
        return Repeats(where, int(alike[0]) + 1, "shared", len(alike))
    if 0 < start < len(rows) - 1:
        return Repeats(where, start + 1, "clamped")
    again = np.flatnonzero(np.abs(rows[1:] - rows[0]).max(axis=1) <= near) + 1
    for period in again[:1]:
        rest = len(rows) - period
        if start and rest > 1 and np.abs(rows[period:] - rows[: len(rows) - period][:rest]).max() <= near:
            return Repeats(where, int(period), "wrapped round")
    return None


def _most(probe: Model) -> int:
    return LONGEST if sum(p.numel() for p in probe.module.parameters()) < MANY else LONGEST_LARGE


def _by_length(probe: Model) -> Callable[[int], BaseException | None]:
    def run(length: int) -> BaseException | None:
        return _error(lambda: probe(probe.draw(1, length)))

    return run


def _by_ids(probe: Model) -> Callable[[int], BaseException | None]:
    def run(count: int) -> BaseException | None:
        ids = torch.arange(count - 2, count, device=probe.device)[None]
        return _error(lambda: probe(probe.draw(1, 2), positions=ids))

    return run


def _error(call: Callable[[], object]) -> BaseException | None:
    """What the forward raised, as it raised it."""
    try:
        call()
    except MissingEvidence as failure:
        return failure.__cause__ or failure
    return None


def _greatest(run: Callable[[int], BaseException | None], fails: int) -> int:
    """The greatest number below `fails` that runs, when everything smaller runs too; what runs is at least 2."""
    low = 2
    while fails - low > 1:
        middle = (low + fails) // 2
        low, fails = (middle, fails) if run(middle) is None else (low, middle)
    return low
