"""One model over all rows of a plan; the numbers of two such runs are then compared token by token."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import final

import numpy as np
import torch
from jaxtyping import Float64

from gnomon.adapters.wording import said
from gnomon.errors import GnomonError
from gnomon.extending.checking.embedding import Embedded, Vectors, embed, vectors
from gnomon.extending.checking.opened import Opened
from gnomon.extending.checking.passkeys import Recall, haystack, recalls
from gnomon.extending.checking.planned import Available, Plan, Wanted
from gnomon.extending.checking.scoring import Text, losses

Progress = Callable[[int, int, str], None]  #: tokens read, tokens in all, what is next and how long the rest may take
PACED, PROBED = 256, 8  #: tokens of the row that the pace is taken from, and of one before it
INPUTS = 32  #: short inputs of an encoder


@final
class Meter:
    """Counts tokens that were read and tells how long the rest may take, by the pace so far."""

    def __init__(self, total: int, progress: Progress | None) -> None:
        self.read, self._total, self._progress, self._start = 0, total, progress, time.monotonic()

    @property
    def seconds(self) -> float:
        """Since the start."""
        return time.monotonic() - self._start

    def announce(self, what: str, tokens: int, seconds: float) -> None:
        """Before all of it, by the pace of a first short row; longer rows take longer for each token."""
        if self._progress is not None:
            took = _duration(seconds / tokens * self._total)
            said = f"{what} reads {self._total:,} tokens: about {took} by the pace of one short row"
            self._progress(0, self._total, said)

    def tell(self, what: str) -> None:
        """Before something is done."""
        if self._progress is not None:
            left = self.seconds / self.read * max(self._total - self.read, 0) if self.read else None
            self._progress(self.read, self._total, what if left is None else f"{what}; about {_duration(left)} left")

    def add(self, tokens: int) -> None:
        """After it."""
        self.read += tokens


@final
@dataclass
class Measured:
    """By length: losses (rows x tokens), keys, vectors of documents and of short inputs; or why there is no number."""

    losses: dict[int, Float64[np.ndarray, "rows places"]] = field(default_factory=dict)
    keys: dict[int, tuple[Recall, ...]] = field(default_factory=dict)
    documents: dict[int, Embedded] = field(default_factory=dict)
    short: dict[int, Vectors] = field(default_factory=dict)
    why: dict[int, str] = field(default_factory=dict)


@final
@dataclass(frozen=True)
class Run:
    """What both models are measured on."""

    text: Text
    plan: Plan
    wanted: Wanted
    there: Available

    def measure(self, opened: Opened, limit: int | None, meter: Meter) -> Measured:
        """The numbers of one model; keys are looked for up to `limit`, and documents are cut there."""
        found = Measured()
        for length, rows in self.plan.rows.items():
            meter.tell(f"{opened.name} at {length} tokens")
            if opened.kind == "encoder":
                self._embed(opened, length, limit, found)
                meter.add(length * rows)
                continue
            self._score(opened, length, found)
            meter.add(length * rows)
            if self.there.keys_at(length, self.wanted) and (limit is None or length <= limit):
                meter.tell(f"{opened.name}, keys in {length} tokens")
                self._find(opened, length, found)
                meter.add(length)
        return found

    def _score(self, opened: Opened, length: int, found: Measured) -> None:
        room = length - self.there.special
        try:
            rows = [losses(opened, self.text, row) for row in self.text.rows(room, self.plan.rows[length])]
        except GnomonError:
            raise
        except Exception as error:  # noqa: BLE001  whatever a forward says to a row that is too long
            found.why[length] = f"{opened.name} cannot run {length} tokens ({said(error)})"
            return
        if any(np.isinf(row).any() for row in rows):
            found.why[length] = f"{opened.name} gives numbers that are not finite at {length} tokens"
            return
        found.losses[length] = np.stack(rows)

    def _find(self, opened: Opened, length: int, found: Measured) -> None:
        hay = haystack(opened.tokens, self.text.ids.tolist(), length, self.wanted.passkeys, self.wanted.seed)
        if hay is not None and length in found.losses:
            found.keys[length] = recalls(opened, hay)

    def _embed(self, opened: Opened, length: int, limit: int | None, found: Measured) -> None:
        count = self.plan.rows[length]
        found.documents[length] = embed(opened, self._spread(length - self.there.special, count), limit)
        for width in (SHORTEST_INPUT, min(length, limit or length)):
            room = width - self.there.special
            if width not in found.short and self.there.old is not None and width <= self.there.old and room > 0:
                found.short[width] = vectors(opened, self._spread(room, min(INPUTS, len(self.text.ids) // room)))

    def _spread(self, room: int, count: int) -> np.ndarray:
        """`count` rows of `room` tokens at even places of the text, without overlap."""
        starts = np.linspace(0, len(self.text.ids) - room, count).astype(int)
        return np.stack([self.text.ids[start : start + room] for start in starts])


SHORTEST_INPUT = 32  #: tokens of the shortest inputs that an encoder is compared on


def pace(opened: Opened, ids: np.ndarray) -> tuple[int, float]:
    """Tokens of one short row, and the seconds that a second pass over it takes."""
    row = opened.row(ids[:PACED].tolist())[None]
    with torch.no_grad():
        opened.module(row[:, :PROBED])  # what is made at the first call is made
        start = time.monotonic()
        opened.module(row)
    return row.shape[1], time.monotonic() - start


def _duration(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"
