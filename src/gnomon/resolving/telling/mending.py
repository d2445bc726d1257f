"""What makes a stack agree with the reference: its own candidates, each read again before it is told."""

import math
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from typing import Any

from gnomon.report.resolved.document import Mend
from gnomon.resolving.columns import Compared
from gnomon.resolving.given import Given
from gnomon.resolving.readers.transformers5 import Standard, standardised
from gnomon.resolving.reading import LayerReading, Reading, Remedy, Wanted
from gnomon.resolving.rules.numbers import EXACT, finite
from gnomon.resolving.stopping import NoSuchModel, StackStops
from gnomon.resolving.telling.effects import effects_in_words
from gnomon.resolving.telling.rereading import ReaderBroke, crashed, reading_of, whole

MOST = 16  #: candidates of one stack that are tried
NEARER = 0.5  #: what leaves less than this share of the difference is much nearer
MOST_FACTOR = 1e6  #: nobody wants to stretch a context by more
FULL = "full_attention"


def mended(compared: Compared, given: Given) -> Mend | None:
    """The first remedy after which nothing but rounding is left, else the one that brings the stack much nearer.

    None where nothing has to be mended, or where there is no reference to mend towards. Raises ReaderBroke where the
    stack's reader breaks on a remedy.
    """
    if compared.verdict not in ("differs", "stops") or not compared.reference.serves:
        return None
    nearest, best = Mend(), _distance(compared)
    for remedy in islice(_candidates(compared, given), MOST):
        after = replace(compared, reading=whole(reading_of(compared.pair, remedy.after, compared.lengths)))
        if after.verdict == "equal":
            return Mend(_told(remedy, after.reading))
        if (distance := _distance(after)) < NEARER * best:
            left = "; ".join(effects_in_words(after.differences))
            nearest, best = Mend("", _told(remedy, after.reading), left), distance
    return nearest


def _told(remedy: Remedy, after: Reading) -> str:
    """The remedy, with what the stack asks for beside it where its cap is below the length that is served."""
    return f"{remedy.text}, with {after.needs} in the environment" if after.needs else remedy.text


def _distance(compared: Compared) -> float:
    """Radians at the worst length, and a radian for each doubling of the logits; infinite where nothing is compared."""
    found = compared.differences
    if not found or any(each.incomparable or each.layouts or not each.logits > 0 < each.rest for each in found):
        return math.inf
    return max(each.phase + max(abs(math.log2(each.logits)), abs(math.log2(each.rest))) for each in found)


def wanted(given: Given, reference: Reading, served: int) -> Wanted | None:
    """What the reference computes, in the words of transformers 5; None where nothing turns, or senselessly."""
    layer = _main_layer(reference)
    if layer is None or layer.base is None or not math.isfinite(layer.base):
        return None
    standard = _standard(given)
    block = standard.block(layer.kind) if standard else None
    values = dict(block.values) if block else {}
    factor = values.get("factor")
    if factor is not None and not 0 < (_number(factor) or 0) <= MOST_FACTOR:
        return None
    decided = {item.what: item.value for item in (*reference.used, *layer.used)}
    return Wanted(
        model_type=standard.model_type if standard else _architecture(given),
        rule=layer.rule,
        base=layer.base,
        cap=served,
        head_dim=layer.head_dim,
        rotary_dim=layer.rotary_dim,
        factor=_number(decided.get("factor") if factor is None else factor),
        original=_whole(values.get("original_max_position_embeddings", decided.get("original length"))),
        block=values or None,
    )


def _candidates(compared: Compared, given: Given) -> Iterator[Remedy]:
    aim = wanted(given, compared.reference, compared.lengths.served)
    if aim is None:
        return
    try:
        yield from compared.pair[0].remedies(given, aim)
    except (StackStops, NoSuchModel):  # a reader that a remedy asked for something stopped
        return
    except Exception as error:
        raise ReaderBroke(crashed(compared.pair, error)) from error


def _main_layer(reading: Reading) -> LayerReading | None:
    """The layers that see everything, where kinds are told apart; else the first that turn."""
    turning = [layer for layer in reading.layers if layer.rotary_dim]
    return next((layer for layer in turning if layer.kind == FULL), turning[0] if turning else None)


def _standard(given: Given) -> Standard | None:
    if given.config is None:
        return None
    try:
        return standardised(given.config)
    except (StackStops, NoSuchModel):
        return None


def _architecture(given: Given) -> str:
    held = given.config if given.config is not None else given.metadata
    return str((held or {}).get("model_type" if given.config is not None else "general.architecture", ""))


def _number(value: Any) -> float | None:
    return float(value) if finite(value) else None


def _whole(value: Any) -> int | None:
    number = _number(value)
    return int(number) if number is not None and abs(number) < EXACT else None
