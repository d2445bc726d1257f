"""Which lengths are measured, on how many rows, and what that costs: said before anything runs."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

from gnomon.errors import GnomonError
from gnomon.extending.checking.opened import Kind

BUDGET = 98_304  #: tokens read by both models together: with 135 M parameters 24 minutes of one core for 16,384 tokens
LAST, WINDOWS, PASSKEYS = 256, 4096, 5  #: tokens scored at the end, tokens of rows without overlap, keys
SHORTEST, MOST_DOCUMENTS = 16, 24
SHORT = 2048  #: tokens, at most, of the length below the old one


@final
@dataclass(frozen=True)
class Wanted:
    """What the caller asks for; see `gnomon.extending.checking.check`."""

    lengths: tuple[int, ...] | None
    last: int = LAST
    windows: int = WINDOWS
    passkeys: int = PASSKEYS
    budget: int = BUDGET
    seed: int = 0

    def __post_init__(self) -> None:
        for name, value, least in (
            ("last", self.last, 1),
            ("windows", self.windows, 1),
            ("passkeys", self.passkeys, 0),
            ("budget", self.budget, 1),
        ):
            if not isinstance(value, int) or value < least:
                raise GnomonError(f"{name} is a whole number of {least} or more, got {value!r}.")
        if self.lengths is not None and not all(isinstance(n, int) and n >= SHORTEST for n in self.lengths or (0,)):
            raise GnomonError(f"Lengths are whole numbers of tokens, {SHORTEST} or more, got {list(self.lengths)}.")


@final
@dataclass(frozen=True)
class Available:
    """What there is: the kind of model, both stated lengths, the tokens of the text, special tokens of a row."""

    kind: Kind
    old: int | None
    new: int | None
    tokens: int
    special: int

    def rows(self, length: int, wanted: Wanted) -> int:
        """Rows or documents of a length; 0 where the text is too short."""
        held = self.tokens // (length - self.special)
        if self.kind == "encoder":
            return min(held, MOST_DOCUMENTS, max(2, wanted.budget // (3 * length))) if held >= 2 else 0
        return min(held, max(1, wanted.windows // length))

    def keys_at(self, length: int, wanted: Wanted) -> bool:
        """Keys are asked for at the old length, or the longest one asked for within it, and beyond."""
        old = self.old or 0
        first = old if wanted.lengths is None else max((n for n in wanted.lengths if n <= old), default=old)
        return self.kind == "causal" and wanted.passkeys > 0 and length >= first

    def cost(self, length: int, wanted: Wanted) -> int:
        """Tokens that both models read; the one before looks for keys up to its own length only."""
        keys = self.keys_at(length, wanted) * (2 if length <= (self.old or length) else 1)
        return (2 * self.rows(length, wanted) + keys) * length


@final
@dataclass(frozen=True)
class Plan:
    """Lengths from the shortest on, each with its number of rows; `left_out` says of every other one why."""

    rows: dict[int, int]
    left_out: tuple[str, ...]
    tokens: int


def planned(wanted: Wanted, there: Available) -> Plan:
    """The lengths asked for, all of them; or those of both configs and between that fit the budget.

    Raises GnomonError where a length asked for is longer than the text, or none can be measured.
    """
    if wanted.lengths is not None:
        return _asked(wanted.lengths, wanted, there)
    if there.old is None or there.new is None:
        raise GnomonError("The models state no longest length; give the lengths to measure, such as 512 and 2048.")
    chosen: list[int] = []
    spent, left_out = 0, []
    for length in _candidates(there.old, there.new):
        cost, rows = there.cost(length, wanted), there.rows(length, wanted)
        if rows and spent + cost <= wanted.budget:
            chosen, spent = [*chosen, length], spent + cost
        else:
            left_out.append(_why(length, spent + cost, wanted, there, fits=rows > 0))
        if length == there.new and length not in chosen:
            shorter = _longest(there.old, length, spent, wanted, there)
            if shorter is not None:
                chosen, spent = [*chosen, shorter], spent + there.cost(shorter, wanted)
    if not chosen:
        raise GnomonError(f"No length can be measured. {' '.join(left_out)}")
    return Plan({n: there.rows(n, wanted) for n in sorted(chosen)}, tuple(left_out), spent)


def _asked(lengths: Sequence[int], wanted: Wanted, there: Available) -> Plan:
    rows = {length: there.rows(length, wanted) for length in sorted(set(lengths))}
    for length, count in rows.items():
        if not count:
            least = (2 if there.kind == "encoder" else 1) * (length - there.special)
            raise GnomonError(
                f"The text has {there.tokens} tokens and rows of {length} need {least}; give a longer text, or "
                "shorter lengths."
            )
    return Plan(rows, (), sum(there.cost(length, wanted) for length in rows))


def _candidates(old: int, new: int) -> list[int]:
    """The most telling first: well below the old length, it, the new one, and between."""
    short, between = min(SHORT, old // 4), round((old * new) ** 0.5)
    found = [n for n in (short, old, new, between) if n >= SHORTEST]
    return [n for place, n in enumerate(found) if n not in found[:place] and n <= max(old, new)]


def _longest(old: int, new: int, spent: int, wanted: Wanted, there: Available) -> int | None:
    """The longest of new / 2, new / 4, ... above the old length that fits."""
    length = new // 2
    while length > old:
        if there.rows(length, wanted) and spent + there.cost(length, wanted) <= wanted.budget:
            return length
        length //= 2
    return None


def _why(length: int, cost: int, wanted: Wanted, there: Available, *, fits: bool) -> str:
    if not fits:
        return f"{length} tokens were not measured: the text has {there.tokens}; give a longer one."
    return f"{length} tokens were not measured: with them {cost} tokens are read, the budget is {wanted.budget}."
