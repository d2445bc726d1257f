"""How far a stack is from the reference, in words: angles, pairs, distances, logits."""

import math
from collections.abc import Iterable, Iterator, Sequence

from gnomon.report.resolved.layers import severity
from gnomon.report.resolved.words import angle_word, share_word
from gnomon.resolving.comparing import NOISE, Difference
from gnomon.resolving.reading import ALL


def effects_in_words(differences: Sequence[Difference]) -> list[str]:
    """One sentence fragment for each kind of layer that differs."""
    kinds = dict.fromkeys(found.kind for found in differences)
    by_kind = {kind: [found for found in differences if found.kind == kind] for kind in kinds}
    told: dict[str, list[str]] = {}
    for kind, found in by_kind.items():
        if not all(each.equal for each in found):
            told.setdefault(_of_one_kind(found), []).append(kind)
    return [text if kinds == [ALL] else f"in {_listed(kinds)}: {text}" for text, kinds in told.items()]


def tokens(count: int) -> str:
    return f"{count:,} token{'' if count == 1 else 's'}"


def _of_one_kind(found: list[Difference]) -> str:
    worst = max((each for each in found if not each.equal), key=severity)
    when = _when(found)
    if worst.incomparable:
        return worst.incomparable + when
    parts = [_pairs(worst)] if worst.relative > NOISE else []
    if worst.layouts:
        parts.append("rows of q and k lie in another layout than the arithmetic takes")
    if any(math.isnan(each.logits) or math.isnan(each.rest) for each in found):
        parts.append("logits are no numbers")
    else:
        parts.extend(_logits(found))
    return ", and ".join(parts) + when


def _pairs(worst: Difference) -> str:
    seen = f"visible from a distance of {tokens(worst.visible_from)}" if worst.visible_from else "hardly visible"
    if worst.visible_from and worst.visible_from >= worst.length:
        seen = f"not visible within {tokens(worst.length)}"
    angle = angle_word(worst.phase, 2)
    first, last = worst.relative_pair, max(worst.relative_pair, worst.relative_last)
    which = f"pair {first} is" if last == first else f"pairs {first} to {last} are"
    if 0 == first < last == worst.pairs - 1:
        which = "all pairs are"
    if not first <= worst.pair <= last:
        return (
            f"{which} {_off(worst.relative)}, pair {worst.pair} is {seen} and {angle} apart at {tokens(worst.length)}"
        )
    whose = f", pair {worst.pair}" if last > first else ","
    return f"{which} {_off(worst.relative)}{whose} {seen}, {angle} apart at {tokens(worst.length)}"


def _off(share: float) -> str:
    """How far a frequency is off; it cannot be ten times as far off but by being faster."""
    word = share_word(share)
    return f"{word} as fast" if word.endswith("times") else f"off by {word}"


def _logits(found: list[Difference]) -> Iterator[str]:
    """Those of all columns together where the columns that do not turn are off by as much, else each on its own."""
    turned = [(each.length, each.logits) for each in found]
    rest = [(each.length, each.rest) for each in found]
    together = [math.isclose(each.logits, each.rest, rel_tol=NOISE) for each in found]
    if all(together) or not any(each.partial for each in found):
        yield from _scale("logits", turned)
    else:
        yield from _scale("scores of the columns that turn", turned)
        yield from _scale("scores of the columns that do not turn", rest)


def _scale(what: str, ratios: list[tuple[int, float]]) -> Iterator[str]:
    off = [(length, ratio) for length, ratio in ratios if abs(ratio - 1) > NOISE]
    if not off:
        return
    length, ratio = max(off, key=lambda each: abs(each[1] - 1))
    at = f" at {tokens(length)}" if len({round(each, 6) for _, each in off}) > 1 else ""
    size = share_word(abs(ratio - 1))
    than = "as large" if size.endswith("times") else "larger" if ratio > 1 else "smaller"
    yield f"{what} are {size} {than}{at}"


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
