"""The angles that transformers 4 makes of a standardised block: as version 5, but for YaRN, LongRoPE and softmax."""

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from gnomon.resolving.readers.serving.layers import Layer, Turning
from gnomon.resolving.readers.serving.numbers import width
from gnomon.resolving.readers.transformers5.standard import Block
from gnomon.resolving.readers.transformers5.turning import rule_of, schedule_of
from gnomon.resolving.rules.angles import Always, Angles, Schedule
from gnomon.resolving.rules.choices import Choices
from gnomon.resolving.stopping import StackStops


def turned(layer: Layer, choices: Choices) -> Turning:
    """What the rotary module of one kind of layer computes; raises StackStops where building it fails."""
    block, standard = layer.block, layer.standard
    rule = rule_of(block, standard)
    if rule == "proportional":
        raise StackStops("KeyError: 'proportional' came with transformers 5")
    if rule == "longrope":
        block = _longrope(layer)
    if rule == "yarn" and choices.yarn_magnitude == "own":
        block = _without(layer, ("mscale", "mscale_all_dim"), "not read before 4.50")
        known = replace(choices, yarn_magnitude="transformers")
        schedule = _unguarded(schedule_of(block, standard, layer.file, known), block.values)
    else:
        schedule = schedule_of(block, standard, layer.file, choices)
    dim = width(block.rotary_dim, "the rotated width")
    layer.file.note("rotated width", dim, block.rotary_dim.key)
    bare = standard.model_type == "deepseek_v2"
    return Turning(
        rule,
        float(block.base),
        dim,
        schedule,
        softmax=1.0 if bare else block.softmax,
        temperature=block.temperature,
        notes=("the softmax scale of mscale_all_dim is missing",) if bare and block.softmax != 1 else (),
    )


def _longrope(layer: Layer) -> Block:
    """An original length beside the block decides the factor too; without one the block must have a factor."""
    if layer.standard.original.value is not None:
        return _without(layer, ("factor",), "longest / original length is taken")
    if layer.block.values.get("factor") is None:
        raise StackStops("TypeError: no original length stands beside the block, and longrope lacks a factor")
    return layer.block


def _without(layer: Layer, names: tuple[str, ...], why: str) -> Block:
    for name in names:
        layer.keys.lose(name, why)
    return replace(layer.block, values={key: value for key, value in layer.block.values.items() if key not in names})


def _unguarded(schedule: Schedule, values: Mapping[str, Any]) -> Schedule:
    """Before 4.50 a factor below 1 made a factor on cos and sin below 1: 0.1 ln(s) + 1 for every s."""
    factor = values.get("factor")
    below = isinstance(factor, int | float) and 0 < factor < 1 and values.get("attention_factor") is None
    if not below or not isinstance(schedule, Always):
        return schedule
    return Always(Angles(schedule.angles.inverse, 0.1 * math.log(float(factor or 1)) + 1))
