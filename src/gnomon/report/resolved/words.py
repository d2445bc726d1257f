"""Numbers and states of a resolution as the short words that tables show."""

import json
import math
from typing import Literal

from gnomon.report.resolved.document import Column, Verdict
from gnomon.report.resolved.layers import Effect, Layer, severity

ALL = "all layers"
Incomparable = Literal["layers", "width", "no number"]
INCOMPARABLE: dict[Incomparable, str] = {
    "layers": "other layers",
    "width": "other width",
    "no number": "not comparable",
}
MANY = 9  #: a share from which on a multiple says it better than a percentage
SHORT_KINDS = {ALL: "", "layers with rotation": "turning", "layers without rotation": "still"}
VERDICT_WORDS: dict[Verdict, str] = {
    "reference": "reference",
    "equal": "equal",
    "differs": "differs",
    "stops": "stops",
    "absent": "absent",
    "broken": "gnomon broke",
    "unknown": "not compared",
}
#: one verdict in a square: on a page, and where only ASCII is sure to be seen
MARKS: dict[Verdict, tuple[str, str]] = {
    "reference": ("ref", "ref"),
    "equal": ("=", "="),
    "differs": ("≠", "DIFF"),
    "stops": ("stops", "stop"),
    "absent": ("·", "."),
    "broken": ("broke", "BROKE"),
    "unknown": ("?", "?"),
}


def kind_word(kind: str) -> str:
    """The kind of layer in few letters, "" where all are alike.

    >>> kind_word("full_attention"), kind_word("layers without rotation"), kind_word("all layers")
    ('full', 'still', '')
    """
    return SHORT_KINDS.get(kind, kind.removesuffix("_attention"))


def number_word(value: float | None, digits: int = 5) -> str:
    """A number in few letters; a dash where there is none."""
    if value is None:
        return "-"
    whole = 1000 <= value < 1e9 or (value == int(value) and 10 <= value < 1e9)
    return f"{value:,.0f}" if whole else f"{value:.{digits}g}"


def times_word(value: float | None) -> str:
    """A ratio in few letters.

    >>> times_word(4.0), times_word(1.00004), times_word(None)
    ('4x', '1x', '-')
    """
    return "-" if value is None else f"{number_word(value, 4)}x"


def share_word(share: float) -> str:
    """How much more one number is than another: per cent, from ten times on what it is as a multiple of the other.

    >>> share_word(0.762682), share_word(0.00314), share_word(12)
    ('76%', '0.31%', '13 times')
    """
    value = 100 * share
    if share >= MANY:
        return f"{1 + share:,.0f} times"
    return f"{value:,.0f}%" if value >= 10 else f"{value:.2g}%"


def angle_word(phase: float | None, digits: int = 3) -> str:
    """An angle in radians; from a full turn on it says nothing but that.

    >>> angle_word(0.2208), angle_word(11984.0), angle_word(None)
    ('0.221 rad', 'more than a turn', '-')
    """
    if phase is None:
        return "-"
    return "more than a turn" if phase > 2 * math.pi else f"{number_word(phase, digits)} rad"


def count_word(value: int | None) -> str:
    return "-" if value is None else f"{value:,}"


def value_word(value: object, longest: int = 60) -> str:
    """A value of the file as it stands there, cut where it is long.

    >>> value_word(False), value_word("yarn"), value_word([1.5] * 99, 12)
    ('false', 'yarn', '[1.5, 1.5...')
    """
    text = value if isinstance(value, str) else json.dumps(value, default=str)
    return text if len(text) <= longest else text[: longest - 3] + "..."


def slowed(layer: Layer, length: int) -> float | None:
    """How many times slower the slowest pair turns at a length than the base alone would have it."""
    inverse = layer.inverse_at(length)
    if not inverse or not layer.base or layer.base <= 0 or not inverse[-1]:
        return None
    return float(layer.base ** (-2 * (len(inverse) - 1) / (2 * len(inverse)))) / inverse[-1]


def worst(column: Column, kind: str) -> Effect | None:
    """The effect of a kind of layer that is furthest from the reference, None where there is none."""
    effects = [effect for effect in column.effects if effect.kind == kind]
    return max(effects, key=severity, default=None)


def incomparable_in(effect: Effect) -> Incomparable:
    """What keeps an effect from having numbers: other layers turn, other columns of a head, or it is no number."""
    if effect.incomparable.startswith("layer"):
        return "layers"
    return "width" if "columns turn" in effect.incomparable else "no number"


def effect_word(effect: Effect | None, verdict: Verdict) -> str:
    """An effect in a cell of a table: the angle, the pair's relative error and the logits, or a word."""
    if effect is None:
        return VERDICT_WORDS[verdict]
    if effect.equal:
        return "equal"
    if effect.incomparable:
        return INCOMPARABLE[incomparable_in(effect)]
    parts = [angle_word(effect.phase)] if effect.relative else []
    parts += ["other layout"] if effect.layouts else []
    if effect.logits is None or round(effect.logits, 4) != 1:
        parts.append(f"logits x{number_word(effect.logits, 4)}")
    elif effect.rest is None or round(effect.rest, 4) != 1:
        parts.append(f"logits x{number_word(effect.rest, 4)} in part")
    return ", ".join(parts) or "differs"
