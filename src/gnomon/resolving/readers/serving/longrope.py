"""LongRoPE with a magnitude of its own for each list, as vLLM and SGLang take it from `short_mscale`, `long_mscale`."""

from dataclasses import replace

from gnomon.resolving.readers.serving.layers import Layer
from gnomon.resolving.rules.angles import Schedule, Switched
from gnomon.resolving.rules.choices import Choices
from gnomon.resolving.rules.longrope import longrope
from gnomon.resolving.rules.scaling import Scaled


def with_magnitudes(layer: Layer, over: Scaled, choices: Choices) -> Schedule:
    """The switch of `longrope`; a magnitude that the block gives replaces the computed one of its list."""
    schedule = longrope(over, layer.keys, choices)
    if not isinstance(schedule, Switched):
        return schedule
    short = layer.keys.number("magnitude of the short list", "short_mscale", default=schedule.short.magnitude)
    long = layer.keys.number("magnitude of the long list", "long_mscale", default=schedule.long.magnitude)
    return replace(
        schedule, short=replace(schedule.short, magnitude=short), long=replace(schedule.long, magnitude=long)
    )
