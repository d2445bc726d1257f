"""A resolution as text for a terminal: a table of all engines, the differences in words, ignored keys, lints."""

from collections.abc import Iterator, Sequence

from gnomon.report.lab.columns import Grid
from gnomon.report.resolved.document import Column, Resolution, Verdict
from gnomon.report.resolved.layers import Layer, Unread
from gnomon.report.resolved.words import (
    count_word,
    effect_word,
    kind_word,
    number_word,
    slowed,
    times_word,
    value_word,
    worst,
)
from gnomon.report.wrapping import wrap

INDENT = "  "
LABELS = ("rule", "width", "base", "slower", "cos, sin", "logits", "cap", "difference")
DIFFERENT: tuple[Verdict, ...] = ("differs", "stops", "broken")
_BOLD = "1"


def render_resolution(found: Resolution, *, width: int = 100, color: bool = False) -> str:
    """All that was found, in lines of at most `width` columns; nothing is cut but long values of keys."""
    blocks = [
        list(_head(found, width)),
        list(_table(found, width)),
        list(_section("Switches", _switches(found), width, color=color)),
        list(_section("In all", found.summary, width, color=color)),
        list(_section("Differences", _sentences(found, DIFFERENT), width, color=color)),
        list(_section("Other lengths", _sentences(found, ("equal", "unknown")), width, color=color)),
        list(_section("No such model, or not traced", _absent(found), width, color=color)),
        list(_section("Keys without effect", _ignored(found), width, color=color)),
        list(_section("Notes", _notes(found), width, color=color)),
        list(_section("The file itself", _lints(found), width, color=color)),
    ]
    return "\n\n".join("\n".join(block) for block in blocks if block)


def _head(found: Resolution, width: int) -> Iterator[str]:
    yield from wrap(found.target, width)
    *others, last = (f"{length:,}" for length in found.lengths)
    lengths = f"{', '.join(others)} and {last}" if others else last
    yield from wrap(
        f"Held against {found.reference} at {lengths} tokens; servers are started for {found.served:,}.", width
    )


def _table(found: Resolution, width: int) -> Iterator[str]:
    """A row for each engine that serves the file or stops; nothing where none serves it."""
    if any(column.layers for column in found.columns):
        yield from Grid(LABELS, list(_rows(found)), width).lines()
        yield from wrap(_legend(found), width)


def _rows(found: Resolution) -> Iterator[tuple[str, tuple[str, ...]]]:
    """One for each kind of layer; one alone where all kinds are as in the reference."""
    for column in found.columns:
        name = found.label(column)
        if column.status == "absent" and column.verdict != "reference":
            continue
        if not column.layers or (column.verdict == "equal" and len(column.layers) > 1):
            yield name, _short_cells(column, "" if column.verdict != "equal" else f"as {found.columns[0].stack}")
            continue
        for layer in column.layers:
            kind = kind_word(layer.kind)
            yield f"{name}, {kind}" if kind else name, _cells(found, column, layer)


def _short_cells(column: Column, rule: str) -> tuple[str, ...]:
    return (rule, *("",) * 5, count_word(column.cap), effect_word(None, column.verdict))


def _cells(found: Resolution, column: Column, layer: Layer) -> tuple[str, ...]:
    scale = layer.scales[-1]
    numbers = (
        layer.rule,
        f"{layer.rotary_dim}/{layer.head_dim}",
        number_word(layer.base, 7),
        times_word(slowed(layer, found.lengths[-1])),
        number_word(scale.magnitude, 6),
        number_word(scale.logits, 6),
        count_word(column.cap),
    )
    return *numbers, effect_word(worst(column, _compared_kind(column, layer)), column.verdict)


def _compared_kind(column: Column, layer: Layer) -> str:
    """The kind under which the layer was compared: the worst one where the stack knows fewer kinds."""
    kinds = {effect.kind for effect in column.effects}
    if layer.kind in kinds or not kinds:
        return layer.kind
    off = [effect.kind for effect in column.effects if not effect.equal]
    return off[0] if off else min(kinds)


def _legend(found: Resolution) -> str:
    return (
        f"slower: by how much the slowest pair is slowed at {found.lengths[-1]:,} tokens, beside its base alone; "
        "logits: what they are multiplied by beside 1/sqrt(head width); cap: the longest sequence, by the file; "
        "difference: the largest angle between a pair and the same pair of the reference at the compared lengths (what "
        "is more than a turn says no more than that), and the factor between the logits"
    )


def _switches(found: Resolution) -> Iterator[str]:
    """Stacks that switch by the same rule stand together."""
    by_rule: dict[str, list[str]] = {}
    for column in found.columns:
        for layer in column.layers:
            if rules := "; ".join(rule for rule in (layer.switch, _temperature(layer)) if rule):
                kind = f" in {kind_word(layer.kind)} layers" if kind_word(layer.kind) else ""
                by_rule.setdefault(f"{rules}{kind}", []).append(found.label(column))
    yield from (f"{', '.join(stacks)}: {rules}" for rules, stacks in by_rule.items())


def _temperature(layer: Layer) -> str:
    return f"logits are multiplied by {layer.temperature}" if layer.temperature else ""


def _sentences(found: Resolution, verdicts: Sequence[Verdict]) -> Iterator[str]:
    for column in found.columns:
        if column.verdict in verdicts:
            yield from column.sentences


def _absent(found: Resolution) -> Iterator[str]:
    """Engines that are absent for one reason stand together."""
    by_reason: dict[str, list[str]] = {}
    for column in found.columns:
        if column.status == "absent" and column.verdict != "reference":
            by_reason.setdefault(column.message, []).append(found.label(column))
    yield from (f"{', '.join(engines)}: {reason}" for reason, engines in by_reason.items())


def _ignored(found: Resolution) -> Iterator[str]:
    """Stacks that pass over the same keys stand together."""
    by_keys: dict[tuple[str, ...], list[str]] = {}
    for column in found.columns:
        if column.ignored:
            by_keys.setdefault(tuple(_unread(column.ignored)), []).append(found.label(column))
    for keys, stacks in by_keys.items():
        yield f"{', '.join(stacks)}: {'; '.join(keys)}"


def _unread(items: Sequence[Unread]) -> Iterator[str]:
    """Keys that are passed over for one reason stand together."""
    by_reason: dict[str, list[str]] = {}
    for item in items:
        by_reason.setdefault(item.why, []).append(f"{item.key} = {value_word(item.value)}")
    for why, keys in by_reason.items():
        yield ", ".join(keys) + ("" if why == "not read" else f" ({why})")


def _notes(found: Resolution) -> Iterator[str]:
    """Stacks of which the same is to be known stand together."""
    by_note: dict[str, list[str]] = {}
    for column in found.columns:
        for note in (*column.notes, *(note for layer in column.layers for note in (*layer.notes, *_still(layer)))):
            by_note.setdefault(note, []).append(found.label(column))
    yield from (f"{', '.join(dict.fromkeys(stacks))}: {note}" for note, stacks in by_note.items())


def _still(layer: Layer) -> Iterator[str]:
    """Which layers do not turn, where that is known."""
    if layer.layers is not None and not layer.rotary_dim:
        yield f"does not turn: layers {', '.join(str(number) for number in layer.layers)}"


def _lints(found: Resolution) -> Iterator[str]:
    for lint in found.lints:
        yield f"{lint.code} {lint.severity}, {lint.where}: {lint.message}. Do: {lint.fix}."


def _section(title: str, items: Sequence[str] | Iterator[str], width: int, *, color: bool) -> Iterator[str]:
    lines = [line for item in items for line in wrap(item, width, first=INDENT, rest=INDENT * 2)]
    if lines:
        yield f"\x1b[{_BOLD}m{title}\x1b[0m" if color else title
        yield from lines
