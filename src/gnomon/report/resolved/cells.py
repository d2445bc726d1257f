"""What a square of the matrix says: one stack on one config, in a few letters, and how it looks."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, final

from gnomon.report.resolved.document import Column, Resolution, Verdict
from gnomon.report.resolved.layers import Effect, Layer, severity
from gnomon.report.resolved.words import ALL, MARKS, VERDICT_WORDS, count_word, incomparable_in, number_word, share_word

Tone = Literal["good", "caution", "bad", "crash", "neutral"]
TONES: dict[Verdict, Tone] = {
    "reference": "neutral",
    "equal": "good",
    "differs": "bad",
    "stops": "crash",
    "absent": "neutral",
    "broken": "crash",
    "unknown": "neutral",
}


@final
@dataclass(frozen=True)
class Cell:
    """`mark` and `second` stand in the square, `label` is read aloud; `id` is the address of what is known of it."""

    id: str
    column: Column
    tone: Tone
    mark: str
    second: str
    label: str


@final
@dataclass(frozen=True)
class Row:
    """One config with its squares; None where a stack was not asked about it."""

    id: str
    found: Resolution
    cells: tuple[Cell | None, ...]


def rows(found: Sequence[Resolution], names: Sequence[str]) -> Iterator[Row]:
    """A row for each config; `names` are the columns, as stack@version."""
    taken: set[str] = set()
    for each in found:
        address = _address(each.target, taken)
        by_name = {column.name: column for column in each.columns}
        cells = (_cell(f"{address}.{name}", each, by_name[name]) if name in by_name else None for name in names)
        yield Row(address, each, tuple(cells))


def worst_effect(column: Column) -> Effect | None:
    """The effect that the square speaks of: that of the kind of layer which is furthest from the reference."""
    return max((effect for effect in column.effects if not effect.equal), key=severity, default=None)


def ratios(layer: Layer, reference: Layer | None, length: int) -> tuple[float, ...]:
    """How fast each pair turns, as a multiple of the reference's; empty where that cannot be said."""
    ours, theirs = layer.inverse_at(length), reference.inverse_at(length) if reference else ()
    if len(ours) != len(theirs):
        return ()
    pairs = [(own, other) for own, other in zip(ours, theirs, strict=True) if own is not None and other]
    return tuple(own / other for own, other in pairs)


def counterpart(column: Column | None, kind: str) -> Layer | None:
    """The layer of another stack that stands for this kind; the one for all where it knows one kind only."""
    named = {layer.kind: layer for layer in column.layers} if column else {}
    return named.get(kind) or named.get(ALL) or (next(iter(named.values())) if len(named) == 1 else None)


def _cell(address: str, found: Resolution, column: Column) -> Cell:
    effect = worst_effect(column) if column.verdict == "differs" else None
    mark, second = _said(effect) if effect else (MARKS[column.verdict][0], "")
    tone = TONES[column.verdict]
    if effect is not None and _late(effect, found):
        tone = "caution"
    said = f": {mark} {second}".rstrip() if effect else ""
    label = f"{column.title} on {found.target}: {VERDICT_WORDS[column.verdict]}{said}"
    return Cell(address, column, tone, mark, second, label)


def _said(effect: Effect) -> tuple[str, str]:
    if effect.incomparable:
        return incomparable_in(effect), ""
    if effect.layouts:
        return "layout", ""
    off = effect.logits if _far_from_one(effect.logits) else effect.rest
    logits = f"×{number_word(off, 3)}" if _logits_differ(effect) else ""
    if not effect.relative or effect.visible_from is None:
        return logits or MARKS["differs"][0], "logits" if logits else ""
    second = f"logits {logits}" if logits else f"from {count_word(effect.visible_from)}"
    return share_word(effect.relative), second


def _late(effect: Effect, found: Resolution) -> bool:
    """Whether the difference is seen above the first of the compared lengths only."""
    if effect.incomparable or effect.layouts or _logits_differ(effect):
        return False
    return effect.visible_from is not None and effect.visible_from >= found.lengths[0]


def _logits_differ(effect: Effect) -> bool:
    return _far_from_one(effect.logits) or _far_from_one(effect.rest)


def _far_from_one(ratio: float | None) -> bool:
    return ratio is None or abs(ratio - 1) > 1e-4


def _address(target: str, taken: set[str]) -> str:
    """A name for links, unlike all taken ones."""
    stem = re.sub(r"[^a-z0-9]+", "-", target.lower().rsplit("/", 1)[-1]).strip("-")[:60] or "config"
    name, count = stem, 1
    while name in taken:
        count += 1
        name = f"{stem}-{count}"
    taken.add(name)
    return name
