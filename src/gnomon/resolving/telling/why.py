"""Why a stack differs, in a few words: a key that it passes over, a number decided otherwise, another rule."""

from collections.abc import Callable, Iterable, Iterator

from gnomon.adapters.wording import shown
from gnomon.resolving.columns import Compared, temperature_words
from gnomon.resolving.reading import DEFAULT, SERVED, LayerReading, Reading, Used
from gnomon.resolving.telling.causes import Cause

NOT_TOLD = ("cap", "kind")  #: what has a sentence of its own, or other words


def why(compared: Compared, cause: Cause | None) -> str:
    """What comes after the name of the stack: "ignores `truncate: false`"."""
    keys = " and ".join(f"`{key}: {value_word(value)}`" for key, value in cause.keys) if cause else ""
    if cause is not None and cause.kind != "in part":
        return f"{'ignores' if cause.kind == 'passed over' else 'alone reads'} {keys}"
    ours, theirs = compared.reading, compared.reference
    decided = list(_otherwise(ours, theirs))
    by_key = [pair for pair in decided if any(item.key != DEFAULT for item in pair)]
    return (
        _number(by_key)
        or _rule(ours, theirs)
        or (f"passes over {keys}" if keys else "")
        or _number(decided)
        or "goes by a rule of its own"
    )


def value_word(value: object) -> str:
    """A value of the file in a sentence.

    >>> value_word(False), value_word(4.0), value_word("yarn")
    ('false', '4', 'yarn')
    """
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:.10g}" if isinstance(value, float) else shown(value, 40).strip("'")


def _number(decided: list[tuple[Used, Used]]) -> str:
    """The first thing that both decide, and decide otherwise."""
    if not decided:
        return ""
    mine, other = decided[0]
    return f"computes with {mine.what} {_sourced(mine)}, the reference with {_sourced(other)}"


def _otherwise(ours: Reading, theirs: Reading) -> Iterator[tuple[Used, Used]]:
    mine, others = _decided(ours), _decided(theirs)
    for what, items in mine.items():
        own = [item for item in items if item.value not in [other.value for other in others.get(what, items)]]
        lost = [other for other in others.get(what, []) if other.value not in [item.value for item in items]]
        if own and lost:
            yield own[0], lost[0]


def _rule(ours: Reading, theirs: Reading) -> str:
    for words, name in WORDS:
        mine, other = _all(ours, words), _all(theirs, words)
        if mine and not other:
            return f"has a {name} of its own ({mine})"
        if other and not mine:
            return f"lacks the reference's {name} ({other})"
        if mine != other:
            return f"goes by another {name} ({mine}; the reference: {other})"
    return ""


def _decided(reading: Reading) -> dict[str, list[Used]]:
    by_name: dict[str, list[Used]] = {}
    for item in (*reading.used, *(item for layer in reading.layers for item in layer.used)):
        if item.what not in NOT_TOLD:
            by_name.setdefault(item.what, []).append(item)
    return by_name


def _sourced(item: Used) -> str:
    sources = {DEFAULT: "its own default", SERVED: "the length that it was started for"}
    return f"{value_word(item.value)} ({sources.get(item.key, f'`{item.key}`')})"


def _all(reading: Reading, words: Callable[[LayerReading], str]) -> str:
    return _joined(words(layer) for layer in reading.layers)


def _joined(words: Iterable[str]) -> str:
    return " and ".join(dict.fromkeys(filter(None, words)))


def _scaling(layer: LayerReading) -> str:
    return layer.rule if layer.rotary_dim else ""


def _switch(layer: LayerReading) -> str:
    return layer.schedule.switch if layer.rotary_dim else ""


def _softmax(layer: LayerReading) -> str:
    return f"{layer.softmax:.6g}"


WORDS: tuple[tuple[Callable[[LayerReading], str], str], ...] = (
    (_scaling, "scaling"),
    (_switch, "switch"),
    (temperature_words, "temperature of the position"),
    (_softmax, "multiplier of the softmax scale"),
)
