"""Encodings with several sets of options each, and the scalar formula that each must equal."""

import math
from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from inspect import signature
from typing import Any

import torch

from gnomon.encodings import Learned, NoPE, Rotary, Sinusoidal, learned, rotary
from gnomon.encodings import sinusoidal as sinusoid
from gnomon.encodings.frequencies import (
    ByParts,
    Custom,
    DynamicNTK,
    DynamicYaRN,
    Frequencies,
    Linear,
    Llama3,
    LongRoPE,
    NTKAware,
    Plain,
    Proportional,
    YaRN,
    by_parts,
    custom,
    longrope,
    yarn,
)
from gnomon.kernels.rotation import LAYOUTS
from gnomon.testing import Reference
from tests.helpers.bias_encodings import bias_encodings, bias_formula
from tests.helpers.case import Case, case_modules


def cases() -> Iterator[Case]:
    """New instances at each call: at least two sets of options for each registered encoding that has options."""
    yield Case("nope", NoPE(), Reference())
    yield from _sinusoidal_cases()
    yield from _learned_cases()
    yield from _rotary_cases()
    for name, made in bias_encodings().items():
        yield Case(name, made, Reference(bias=bias_formula(made)))
    for module in case_modules("cases"):
        yield from module.cases()


def case(name: str) -> Case:
    return next(item for item in cases() if item.name == name)


def _sinusoidal_cases() -> Iterator[Case]:
    entries = {
        ("interleaved", "paper"): sinusoid.reference,
        ("half", "paper"): sinusoid.reference_half,
        ("half", "endpoint"): sinusoid.reference_endpoint,
    }
    option_sets: list[dict[str, Any]] = [
        {"dim": 24},
        {"dim": 7, "scale": "sqrt_dim"},
        {"dim": 24, "layout": "half", "scale": "dim"},
        {"dim": 9, "layout": "half", "base": 500.0},
        {"dim": 24, "layout": "half", "exponent": "endpoint"},
        {"dim": 9, "layout": "half", "exponent": "endpoint", "base": 500.0},
    ]
    for options in option_sets:
        made = Sinusoidal(**options)
        divisor = {"none": 1.0, "sqrt_dim": math.sqrt(made.dim), "dim": made.dim}[made.scale]
        entry = partial(entries[made.layout, made.exponent], dim=made.dim, base=made.base)
        formula = Reference(embed=partial(_add_entries, entry=entry, divisor=divisor))
        yield Case(f"sinusoidal-{made.dim}-{made.layout}-{made.exponent}", made, formula)


def _add_entries(vector: list[float], position: int, entry: Callable[[int, int], float], divisor: float) -> list[float]:
    return [value + entry(position, column) / divisor for column, value in enumerate(vector)]


def _learned_cases() -> Iterator[Case]:
    for offset in (0, 2):
        torch.manual_seed(offset)
        made = Learned(40, 24, padding_offset=offset)
        table: list[list[float]] = made.weight.tolist()
        formula = Reference(embed=partial(learned.reference, table=table, padding_offset=offset))
        yield Case(f"learned-{offset}", made, formula)


FREQUENCIES: dict[str, Frequencies] = {
    "plain": Plain(500.0),
    "linear": Linear(4.0),
    "ntk": NTKAware(4.0, 500.0),
    "by_parts": ByParts(4.0, 64, base=500.0),
    "yarn": YaRN(4.0, 64, base=500.0, beta_fast=4.0, truncate=False),
    "yarn_ratio": YaRN(8.0, 64, base=500.0, mscale=0.7, mscale_reading="ratio"),
    "llama3": Llama3(4.0, 64, base=50.0),
    "proportional": Proportional(0.7, 2.0, 500.0),
    "dynamic": DynamicNTK(4.0, 64, 500.0),
    "dynamic_yarn": DynamicYaRN(64, base=500.0, beta_fast=4.0),
    "longrope": LongRoPE([1.0, 1.1, 1.5], [1.2, 3.0, 9.0], 64, base=500.0, factor=8.0),
    "longrope_pair": LongRoPE([1.0] * 3, [1.0, 3.0, 8.0], 64, base=500.0, attention_factor=[1.0, 1.3]),
    "custom": Custom([0.9, 0.4, 0.0], attention_factor=1.2),
}


def _rotary_cases() -> Iterator[Case]:
    """Plain and linear frequencies in every layout and width, the other rules in both layouts."""
    for name, frequencies in FREQUENCIES.items():
        for rotary_dim in (8, 6) if name in ("plain", "linear") else (6,):
            for layout in LAYOUTS:
                made = Rotary(8, rotary_dim=rotary_dim, layout=layout, frequencies=frequencies)
                rotate = partial(_turned, rule=frequencies, width=rotary_dim, layout=layout)
                formula = Reference(rotate_query=rotate, rotate_key=rotate)
                yield Case(f"rotary-{rotary_dim}-{layout}-{name}", made, formula)


def _turned(vector: list[float], position: int, rule: Frequencies, width: int, layout: str) -> list[float]:
    inverse = [inverse_reference(rule, i, width) for i in range(width // 2)]
    return rotary.reference(vector, position, inverse, layout, factor_reference(rule))


def inverse_reference(frequencies: Frequencies, i: int, rotary_dim: int) -> float:
    """Inverse frequency i by the scalar formula that stands beside the rule."""
    if isinstance(frequencies, YaRN):
        return by_parts.reference(i, rotary_dim, **frequencies.parts.options)
    if isinstance(frequencies, Custom):
        return custom.reference(i, frequencies.options["inverse_frequencies"])
    module = import_module(type(frequencies).__module__)
    names = signature(module.reference).parameters
    value: float = module.reference(i, rotary_dim, **{k: v for k, v in frequencies.options.items() if k in names})
    return value


def factor_reference(frequencies: Frequencies) -> float:
    """The attention factor by the scalar formula; 1 for rules without one."""
    if isinstance(frequencies, YaRN):
        return yarn.reference(**{key: frequencies.options[key] for key in signature(yarn.reference).parameters})
    if isinstance(frequencies, LongRoPE) and frequencies.given_factor is None:
        assert frequencies.factor is not None
        return longrope.reference_attention_factor(frequencies.factor, frequencies.original_max_length)
    given = frequencies.options.get("attention_factor", 1.0)
    return float(given[0] if isinstance(given, list) else given)
