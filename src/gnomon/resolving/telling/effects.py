"""How far a stack is from the reference, in words: angles, pairs, distances, logits."""

import math
from collections.abc import Iterable, Sequence

from gnomon.resolving.comparing import NOISE, Difference
from gnomon.resolving.reading import ALL

LARGE = 9  #: from ten times as much on, a factor says it better than a percentage


def effects_in_words(differences: Sequence[Difference]) -> list[str]:
    """One sentence fragment for each kind of layer that differs."""
    kinds = dict.fromkeys(found.kind for found in differences)
    by_kind = {kind: [found for found in differences if found.kind == kind] for kind in kinds}
    told: dict[str, list[str]] = {}
    for kind, found in by_kind.items():
        if not all(each.equal for each in found):
            told.setdefault(_of_one_kind(found), []).append(kind)
    return [text if kinds == [ALL] else f"in {_listed(kinds)}: {text}" for text, kinds in told.items()]


def percent(share: float) -> str:
    """A share with two or three digits, a factor where it is large.

    >>> percent(0.762682), percent(0.00314), percent(12)
    ('76%', '0.31%', 'a factor of 13')
    """
    value = 100 * share
    if share >= LARGE:
        return f"a factor of {1 + share:,.0f}"
    return f"{value:,.0f}%" if value >= 10 else f"{value:.2g}%"


def tokens(count: int) -> str:
    return f"{count:,} tokens"


def _of_one_kind(found: list[Difference]) -> str:
    worst = max((each for each in found if not each.equal), key=_size)
    when = _when(found)
    if worst.incomparable:
        return worst.incomparable + when
    parts = [_pairs(worst)] if worst.relative > NOISE else []
    if worst.layouts:
        parts.append("rows of q and k lie in another layout than the arithmetic takes")
    if any(math.isnan(each.logits) for each in found):
        parts.append("logits are no numbers")
    elif logits := [each for each in found if abs(each.logits - 1) > NOISE]:
        parts.append(_logits(logits))
    return ", and ".join(parts) + when


def _size(found: Difference) -> tuple[bool, float, float]:
    return bool(found.incomparable), found.phase, abs(found.logits - 1)


def _pairs(worst: Difference) -> str:
    seen = f"visible from a distance of about {tokens(worst.visible_from)}" if worst.visible_from else "hardly visible"
    if worst.visible_from and worst.visible_from > worst.length:
        seen = f"not visible within {tokens(worst.length)}"
    angle = f"{worst.phase:.2g} rad" if worst.phase < 10 else f"{worst.phase:,.0f} rad"
    where = f" (pair {worst.pair})" if worst.pair != worst.relative_pair else ""
    return (
        f"pair {worst.relative_pair} is off by {percent(worst.relative)}, {seen}, "
        f"{angle} apart at {tokens(worst.length)}{where}"
    )


def _logits(found: list[Difference]) -> str:
    worst = max(found, key=lambda each: abs(each.logits - 1))
    size = "larger" if worst.logits > 1 else "smaller"
    at = f" at {tokens(worst.length)}" if len({round(each.logits, 6) for each in found}) > 1 else ""
    return f"logits are {percent(abs(worst.logits - 1))} {size}{at}"


def _when(found: list[Difference]) -> str:
    """At which of the evaluated lengths, where not at all of them."""
    off, same = [each.length for each in found if not each.equal], [each.length for each in found if each.equal]
    if not same:
        return ""
    if max(same) < min(off):
        return f" (only above {tokens(max(same))})"
    if min(same) > max(off):
        return f" (only up to {tokens(max(off))})"
    return f" (only at {_listed(f'{length:,}' for length in off)} tokens)"


def _listed(words: Iterable[str]) -> str:
    *others, last = words
    return f"{', '.join(others)} and {last}" if others else last
