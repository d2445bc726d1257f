"""From readings to the document: one column for each stack, with all numbers at the lengths that are compared."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, final

import numpy as np

from gnomon.report.resolved.document import Column, Verdict
from gnomon.report.resolved.layers import Decided, Effect, Frequencies, Layer, Scale, Unread
from gnomon.resolving.asking import Asked
from gnomon.resolving.comparing import Difference, compared
from gnomon.resolving.lengths import Lengths
from gnomon.resolving.reading import ALL, LayerReading, Reading, Used


@final
@dataclass(frozen=True, eq=False)
class Compared:
    """One stack's reading beside that of the reference, and the differences of all kinds of layers at all lengths.

    `label`: how the stack is called beside the others that are shown; left out where it stands alone.
    """

    pair: Asked
    reading: Reading
    reference: Reading
    lengths: Lengths
    label: str = ""

    @cached_property
    def differences(self) -> tuple[Difference, ...]:
        return differences(self.reading, self.reference, self.lengths)

    @cached_property
    def verdict(self) -> Verdict:
        """How the column is summed up; a reference is held against itself elsewhere."""
        if not self.reading.serves:
            return ended(self.reading)
        if not self.reference.serves:
            return "unknown"
        return "equal" if all(found.equal for found in self.differences) else "differs"


def ended(reading: Reading) -> Literal["stops", "absent", "broken"]:
    """Why a reading has no layers."""
    return "broken" if reading.broken else "absent" if reading.absent else "stops"


def differences(ours: Reading, reference: Reading, lengths: Lengths) -> tuple[Difference, ...]:
    """For each kind of layer, in the order of the lengths; nothing unless both serve."""
    if not ours.serves or not reference.serves:
        return ()
    return tuple(
        _difference(kind, ours.layer(kind), reference.layer(kind), length, lengths.served)
        for kind in kinds_of(ours, reference)
        for length in lengths.evaluated
    )


def kinds_of(ours: Reading, reference: Reading) -> tuple[str, ...]:
    """The kinds of layers that are told apart by either of the two, those of the reference first."""
    named = dict.fromkeys(layer.kind for reading in (reference, ours) for layer in reading.layers)
    return tuple(kind for kind in named if kind != ALL) or (ALL,)


def agree(ours: Reading, reference: Reading, lengths: Lengths) -> bool:
    """Whether both serve, and nothing but rounding lies between them."""
    found = differences(ours, reference, lengths)
    return bool(found) and all(difference.equal for difference in found)


def column(compared: Compared, *, is_reference: bool = False) -> Column:
    """The facts of one stack; what is said of them in words is filled in later."""
    (stack, version), reading = compared.pair, compared.reading
    return Column(
        stack=reading.stack,
        version=version.name,
        title=stack.title,
        since=version.since,
        status="serves" if reading.serves else ended(reading),
        verdict="reference" if is_reference else compared.verdict,
        message=reading.broken or reading.absent or reading.refusal,
        sure=reading.sure,
        sources=stack.sources,
        cap=reading.cap,
        layers=tuple(_layer(layer, compared.lengths) for layer in reading.layers),
        used=_used(reading.used),
        ignored=tuple(Unread(item.key, item.value, item.why) for item in reading.ignored),
        notes=reading.notes,
        newest=version is stack.versions[0],
        effects=() if is_reference else tuple(_effect(found) for found in compared.differences),
    )


def _difference(
    kind: str, ours: LayerReading | None, reference: LayerReading | None, length: int, served: int
) -> Difference:
    if reference is None:
        return Difference(kind, length, incomparable="the reference knows no such kind of layer")
    if ours is None:
        return Difference(kind, length, incomparable="the engine knows no such kind of layer")
    return replace(compared(ours, reference, length, served), kind=kind)


def _layer(layer: LayerReading, lengths: Lengths) -> Layer:
    return Layer(
        kind=layer.kind,
        head_dim=layer.head_dim,
        rotary_dim=layer.rotary_dim,
        base=layer.base,
        rule=layer.rule,
        layout=layer.layout,
        permuted=layer.permuted,
        softmax=layer.softmax,
        temperature=temperature_words(layer),
        switch=layer.schedule.switch if layer.rotary_dim else "",
        frequencies=tuple(_frequencies(layer, lengths)) if layer.rotary_dim else (),
        scales=tuple(_scale(layer, length, lengths.served) for length in lengths.evaluated),
        used=_used(layer.used),
        notes=layer.notes,
        layers=layer.layers,
    )


def _frequencies(layer: LayerReading, lengths: Lengths) -> Iterator[Frequencies]:
    """Lengths that have the same frequencies stand together."""
    groups: list[tuple[list[int], np.ndarray]] = []
    for length in lengths.evaluated:
        inverse = layer.schedule.at(length, lengths.served).inverse
        same = next((group for group, held in groups if np.array_equal(held, inverse, equal_nan=True)), None)
        if same is None:
            groups.append(([length], inverse))
        else:
            same.append(length)
    for group, inverse in groups:
        yield Frequencies(tuple(group), tuple(_finite(value) for value in inverse))


def _scale(layer: LayerReading, length: int, served: int) -> Scale:
    magnitude = layer.schedule.at(length, served).magnitude if layer.rotary_dim else 1.0
    return Scale(length, _finite(magnitude), _finite(layer.logit_factor(length, served)))


def temperature_words(layer: LayerReading) -> str:
    """How the position scales the logits; "" where it does not."""
    rule = layer.temperature
    if rule is None:
        return ""
    position = f"(position + {rule.shift})" if rule.shift else "position"
    return f"1 + {rule.beta:g} * ln(1 + floor({position} / {rule.length:g}))"


def _effect(found: Difference) -> Effect:
    return Effect(
        kind=found.kind,
        length=found.length,
        equal=found.equal,
        phase=_finite(found.phase),
        pair=found.pair,
        relative=_finite(found.relative),
        relative_pair=found.relative_pair,
        relative_last=found.relative_last,
        logits=_finite(found.logits),
        rest=_finite(found.rest),
        visible_from=found.visible_from,
        layouts=found.layouts,
        incomparable=found.incomparable,
    )


def _used(items: tuple[Used, ...]) -> tuple[Decided, ...]:
    return tuple(Decided(item.what, item.value, item.key) for item in items)


def _finite(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None
