"""A resolution as text for a terminal: a table of all stacks, the differences in words, ignored keys, lints."""

from collections.abc import Iterator, Sequence

from gnomon.report.lab.columns import Grid
from gnomon.report.resolved.document import Column, Resolution
from gnomon.report.resolved.layers import Layer, Unread
from gnomon.report.resolved.words import count_word, effect_word, kind_word, number_word, slowed, value_word, worst
from gnomon.report.wrapping import wrap

INDENT = "  "
LABELS = ("rule", "width", "base", "slowed", "cos, sin", "logits", "cap", "difference")
_BOLD = "1"


def render_resolution(found: Resolution, *, width: int = 100, color: bool = False) -> str:
    """All that was found, in lines of at most `width` columns; nothing is cut but long values of keys."""
    blocks = [
        list(_head(found, width)),
        [*Grid(LABELS, list(_rows(found)), width).lines(), *wrap(_legend(found), width)],
        list(_section("Switches", _switches(found), width, color=color)),
        list(_section("In all", found.summary, width, color=color)),
        list(_section("Differences", _sentences(found), width, color=color)),
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


def _rows(found: Resolution) -> Iterator[tuple[str, tuple[str, ...]]]:
    """One for each kind of layer; one alone where all kinds are as in the reference."""
    for column in found.columns:
        name = _name(found, column)
        if column.status == "absent" and column.verdict != "reference":
            continue
        if not column.layers or (column.verdict == "equal" and len(column.layers) > 1):
            yield name, _short_cells(column)
            continue
        for layer in column.layers:
            kind = kind_word(layer.kind)
            yield f"{name}, {kind}" if kind else name, _cells(found, column, layer)


def _name(found: Resolution, column: Column) -> str:
    """With its version where it is not the newest, or where there are others of the same stack."""
    several = sum(other.stack == column.stack for other in found.columns) > 1
    return column.stack if column.newest and not several else column.name


def _short_cells(column: Column) -> tuple[str, ...]:
    return (*("",) * 6, count_word(column.cap), effect_word(None, column.verdict))


def _cells(found: Resolution, column: Column, layer: Layer) -> tuple[str, ...]:
    scale = layer.scales[-1]
    numbers = (
        layer.rule,
        f"{layer.rotary_dim}/{layer.head_dim}",
        number_word(layer.base, 7),
        number_word(slowed(layer, found.lengths[-1]), 4),
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
        f"slowed: how much slower the slowest pair turns at {found.lengths[-1]:,} tokens than its base says; logits: "
        "what they are multiplied by beside 1/sqrt(head width); difference: the largest of the compared lengths"
    )


def _switches(found: Resolution) -> Iterator[str]:
    """Stacks that switch by the same rule stand together."""
    by_rule: dict[str, list[str]] = {}
    for column in found.columns:
        for layer in column.layers:
            if rules := "; ".join(rule for rule in (layer.switch, _temperature(layer)) if rule):
                kind = f" in {kind_word(layer.kind)} layers" if kind_word(layer.kind) else ""
                by_rule.setdefault(f"{rules}{kind}", []).append(_name(found, column))
    yield from (f"{', '.join(stacks)}: {rules}" for rules, stacks in by_rule.items())


def _temperature(layer: Layer) -> str:
    return f"logits are multiplied by {layer.temperature}" if layer.temperature else ""


def _sentences(found: Resolution) -> Iterator[str]:
    for column in found.columns:
        if column.status != "absent" and column.sentences:
            yield from column.sentences


def _ignored(found: Resolution) -> Iterator[str]:
    """Stacks that pass over the same keys stand together."""
    by_keys: dict[tuple[str, ...], list[str]] = {}
    for column in found.columns:
        if column.ignored:
            by_keys.setdefault(tuple(_unread(column.ignored)), []).append(_name(found, column))
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
        for note in (*column.notes, *(note for layer in column.layers for note in layer.notes)):
            by_note.setdefault(note, []).append(_name(found, column))
    yield from (f"{', '.join(dict.fromkeys(stacks))}: {note}" for note, stacks in by_note.items())


def _lints(found: Resolution) -> Iterator[str]:
    for lint in found.lints:
        yield f"{lint.code} {lint.severity}, {lint.where}: {lint.message}. Do: {lint.fix}."


def _section(title: str, items: Sequence[str] | Iterator[str], width: int, *, color: bool) -> Iterator[str]:
    lines = [line for item in items for line in wrap(item, width, first=INDENT, rest=INDENT * 2)]
    if lines:
        yield f"\x1b[{_BOLD}m{title}\x1b[0m" if color else title
        yield from lines
