"""What a check found, as plain data."""

from dataclasses import dataclass, field
from typing import Any, final

from gnomon.extending.checking.embedding import Documents, Short
from gnomon.extending.checking.noise import Change
from gnomon.extending.checking.opened import Kind
from gnomon.extending.checking.passkeys import Recall
from gnomon.report.plain import plain

VERSION = 1  #: of the form of `Checked.to_dict`


@final
@dataclass(frozen=True)
class Position:
    """The mean loss of the tokens at places `start` to `stop` - 1 of a row, in nats; None where there is no number."""

    start: int
    stop: int
    before: float | None
    after: float | None

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {"start": self.start, "stop": self.stop, "before": self.before, "after": self.after}


@final
@dataclass(frozen=True)
class AtLength:
    """Losses in nats at rows of `length` tokens.

    `windows`: all tokens of `rows` rows without overlap. `last`: the last tokens of the text, the same at every length
    that is longer than they are.
    `gain`: those again, from the model before at its own length to the model after at this longer one. `why` says why a
    number is missing.
    """

    length: int
    rows: int
    windows: Change
    last: Change
    gain: Change | None = None
    positions: tuple[Position, ...] = ()
    why: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        changes = {name: getattr(self, name) for name in ("windows", "last", "gain")}
        return {
            "length": self.length,
            "rows": self.rows,
            **{name: None if change is None else change.to_dict() for name, change in changes.items()},
            "positions": [each.to_dict() for each in self.positions],
            "why": self.why,
        }


@final
@dataclass(frozen=True)
class Keys:
    """What each model says of the keys in a row of `length` tokens; None where it was not asked."""

    length: int
    before: tuple[Recall, ...] | None
    after: tuple[Recall, ...] | None

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        both = {"before": self.before, "after": self.after}
        return {"length": self.length} | {
            name: None if found is None else [each.to_dict() for each in found] for name, found in both.items()
        }


@final
@dataclass(frozen=True)
class Models:
    """The names of both models, what kind they are, and the lengths that they state."""

    before: str
    after: str
    kind: Kind
    old: int | None
    new: int | None

    def within(self, length: int) -> bool:
        """Whether the model before was made for rows of this length."""
        return self.old is not None and length <= self.old


@final
@dataclass(frozen=True)
class Checked:
    """Both models on the same text. Causal and masked models have `lengths`, encoders `documents` and `short`.

    `last`: how many tokens at the end are scored at every length. `left_out`: lengths that were not measured, and why.
    `tokens` were read by both models together in `seconds`.
    """

    models: Models
    last: int
    lengths: tuple[AtLength, ...] = ()
    keys: tuple[Keys, ...] = ()
    documents: tuple[Documents, ...] = ()
    short: tuple[Short, ...] = ()
    left_out: tuple[str, ...] = ()
    tokens: int = 0
    seconds: float = field(default=0.0, compare=False)

    @property
    def verdict(self) -> tuple[str, ...]:
        """What the numbers say, in sentences; nothing is claimed within noise."""
        from gnomon.extending.checking.verdict import verdict

        return verdict(self)

    @property
    def worse(self) -> bool:
        """Whether rows that the model before was made for got worse beyond noise."""
        rises = [at.windows.direction > 0 or at.last.direction > 0 for at in self.lengths if self._within(at.length)]
        lost = [at.found.direction < 0 for at in self.documents if self._within(at.length)]
        return any(rises) or any(lost)

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON; a number that is not finite is null."""
        found: dict[str, Any] = plain(
            {
                "schema_version": VERSION,
                **{name: getattr(self.models, name) for name in ("before", "after", "kind", "old", "new")},
                "last": self.last,
                **{
                    name: [each.to_dict() for each in getattr(self, name)]
                    for name in ("lengths", "keys", "documents", "short")
                },
                "left_out": list(self.left_out),
                "worse": self.worse,
                "verdict": list(self.verdict),
                "tokens": self.tokens,
                "seconds": round(self.seconds, 1),
            }
        )
        return found

    def __str__(self) -> str:
        from gnomon.extending.checking.table import as_text

        return as_text(self)

    def _within(self, length: int) -> bool:
        return self.models.within(length)
