"""Encodings with several sets of options each, and the scalar formula that each must equal."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch

from gnomon.encodings import ALiBi, Learned, NoPE, PositionEncoding, Rotary, Sinusoidal, alibi, learned, rotary
from gnomon.encodings import sinusoidal as sinusoid
from gnomon.encodings.frequencies import Linear, Plain, linear, plain
from gnomon.testing import Reference


@dataclass(frozen=True)
class Case:
    """One encoding and its formula. `name` starts with the registered name."""

    name: str
    encoding: PositionEncoding
    reference: Reference


def cases() -> Iterator[Case]:
    """New instances at each call: at least two sets of options for each registered encoding that has options."""
    yield Case("nope", NoPE(), Reference())
    yield from _sinusoidal_cases()
    yield from _learned_cases()
    yield from _rotary_cases()
    for num_heads in (1, 4, 6, 12):
        formula = Reference(bias=partial(alibi.reference, num_heads=num_heads))
        yield Case(f"alibi-{num_heads}-symmetric", ALiBi(num_heads), formula)
        yield Case(f"alibi-{num_heads}-causal", ALiBi(num_heads, form="causal"), formula)


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


def _rotary_cases() -> Iterator[Case]:
    for layout in ("half", "interleaved"):
        for rotary_dim in (8, 6):
            for frequencies in (Plain(500.0), Linear(4.0)):
                made = Rotary(8, rotary_dim=rotary_dim, layout=layout, frequencies=frequencies)
                inverse = [_inverse(frequencies, i, rotary_dim) for i in range(rotary_dim // 2)]
                rotate = partial(rotary.reference, inverse=inverse, layout=layout)
                kind = frequencies.to_dict()["kind"]
                formula = Reference(rotate_query=rotate, rotate_key=rotate)
                yield Case(f"rotary-{rotary_dim}-{layout}-{kind}", made, formula)


def _inverse(frequencies: Plain | Linear, i: int, rotary_dim: int) -> float:
    if isinstance(frequencies, Linear):
        return linear.reference(i, rotary_dim, frequencies.plain.base, frequencies.factor)
    return plain.reference(i, rotary_dim, frequencies.base)
