"""What is wrong inside one scaling block: keys it needs, numbers that cannot be, lengths that do not fit its factor."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from gnomon.doctor.evidence.rope_blocks import RopeBlock, positive
from gnomon.report.document import Severity

REQUIRED: dict[str, tuple[str, ...]] = {
    "default": (),
    "linear": ("factor",),
    "dynamic": ("factor",),
    "yarn": ("factor",),
    "llama3": ("factor", "low_freq_factor", "high_freq_factor", "original_max_position_embeddings"),
    "longrope": ("short_factor", "long_factor"),
    "su": ("short_factor", "long_factor"),
    "proportional": (),
    "mrope": ("mrope_section",),
    "axial": (),
    "ntk_alpha": ("alpha",),
}
ORIGINAL, LONGEST = "original_max_position_embeddings", "max_position_embeddings"
BY_RATIO = ("linear", "dynamic", "yarn", "longrope")
SAME_FACTOR = 1e-6
LENGTHS_AGREE = 0.01  # how far factor may be from max_position_embeddings / original_max_position_embeddings


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong with a block."""

    message: str
    fix: str
    severity: Severity = "error"


def problems_of(block: RopeBlock) -> Iterator[Problem]:
    """Everything that is wrong with a block; nothing but its kind when that is unknown."""
    if not isinstance(block.kind, str) or block.kind not in REQUIRED:
        yield Problem(f"the scaling kind {block.kind!r} is unknown", f"use one of {', '.join(REQUIRED)}")
        return
    for key in REQUIRED[block.kind]:
        if block.values.get(key) is None and block.part.get(key) is None:
            missing = f"{block.kind} scaling has no {key}"
            yield Problem(missing, f"add {key} with the value the weights were trained with")
    for rule in RULES:
        yield from rule(block)


def _factor(block: RopeBlock) -> Iterator[Problem]:
    factor = block.values.get("factor")
    if factor is None or (_is_number(factor) and 1 <= factor < math.inf):
        return
    yield Problem(f"factor is {factor!r}, not a number of at least 1", "write new length / trained length")


def _lengths(block: RopeBlock) -> Iterator[Problem]:
    """For kinds whose factor is the ratio of the lengths (not llama3: Llama 3.1 has factor 8 and a ratio of 16)."""
    original, longest, factor = (
        positive(block.values.get(ORIGINAL)),
        positive(block.part.get(LONGEST)),
        positive(block.values.get("factor")),
    )
    if original is None or longest is None:
        return
    ratio = longest / original
    if ratio < 1 or (block.kind == "llama3" and ratio == 1):
        message = f"{ORIGINAL} {original:g} is not below {LONGEST} {longest:g}, so that nothing is scaled"
        yield Problem(message, f"write the trained length as {ORIGINAL}, the extended one as {LONGEST}", "warning")
    elif block.rule in BY_RATIO and factor is not None and abs(ratio - factor) > LENGTHS_AGREE * factor:
        yield Problem(
            f"factor is {factor} but {LONGEST} / {ORIGINAL} is {ratio:g}: "
            "programs that cap inputs at the one and scale by the other disagree",
            f"set {LONGEST} to {factor * original:.0f} (factor times the original length), or correct the factor",
            "warning",
        )


def _bands(block: RopeBlock) -> Iterator[Problem]:
    low, high = block.values.get("low_freq_factor"), block.values.get("high_freq_factor")
    if block.kind == "llama3" and isinstance(low, int | float) and isinstance(high, int | float) and low > high:
        yield Problem(f"low_freq_factor {low} is above high_freq_factor {high}", "the published values are 1 and 4")
    fast, slow = block.values.get("beta_fast", 32), block.values.get("beta_slow", 1)
    if block.kind == "yarn" and isinstance(fast, int | float) and isinstance(slow, int | float) and fast < slow:
        yield Problem(f"beta_fast {fast} is below beta_slow {slow}", "the published values are 32 and 1")


def _lists(block: RopeBlock) -> Iterator[Problem]:
    """Long and short factors: one number for each rotated pair, so two lists of one length."""
    given = [(key, block.values[key]) for key in ("short_factor", "long_factor") if block.values.get(key) is not None]
    bad = [key for key, values in given if not isinstance(values, list) or not all(map(positive, values))]
    for key in bad:
        yield Problem(f"{key} is not a list of positive numbers", f"give {key} one number for each rotated pair")
    if len(given) == 2 and not bad and len(given[0][1]) != len(given[1][1]):
        counts = f"short_factor has {len(given[0][1])} numbers but long_factor has {len(given[1][1])}"
        yield Problem(counts, "give both one number for each rotated pair")
    if len(given) == 2 and not bad and math.prod(map(float, given[0][1])) > math.prod(map(float, given[1][1])):
        message = "short_factor slows the rotation more than long_factor does: the two lists seem exchanged"
        yield Problem(message, "long_factor is the list with the larger numbers; exchange them", "warning")


def _trained_length(block: RopeBlock) -> Iterator[Problem]:
    """Where short ends and long begins."""
    places = (block.values, block.part)
    longest = positive(block.part.get(LONGEST))
    listed = all(block.values.get(key) is not None for key in ("short_factor", "long_factor"))
    stated = any(place.get(key) is not None for place in places for key in (ORIGINAL, "factor"))
    if block.rule == "longrope" and listed and longest is not None and not stated:
        yield Problem(
            f"nothing says where short_factor ends and long_factor begins: there is no {ORIGINAL}, and readers that "
            f"take {LONGEST} ({longest:g}) for it never use long_factor",
            f"write the length that was trained before the extension as {ORIGINAL} (Phi-3: 4096)",
            "warning",
        )


def _attention(block: RopeBlock) -> Iterator[Problem]:
    """What cos and sin are multiplied by: given, or worked out from a pair of numbers."""
    given = block.values.get("attention_factor")
    if given is not None and positive(given) is None:
        yield Problem(f"attention_factor is {given!r}, not a number above 0", "leave it out to have it worked out")
    above, below = block.values.get("mscale"), block.values.get("mscale_all_dim")
    factor = positive(block.values.get("factor"))
    if block.kind != "yarn" or factor is None or given is not None or bool(above) == bool(below):
        return
    used = (1.0 if above is None else above, 0.0 if below is None else below)
    if factor < 1 or not all(_is_number(scale) and 0 <= scale < math.inf for scale in used):
        return
    one, other = (0.1 * scale * math.log(factor) + 1 for scale in used)
    plain, ratio = 0.1 * math.log(factor) + 1, one / other
    if abs(plain - ratio) <= SAME_FACTOR:
        return
    yield Problem(
        f"mscale is {above!r} and mscale_all_dim is {below!r}: transformers ignores one without the other and "
        f"multiplies by {plain:.5f}, DeepSeek's code and older vLLM by {ratio:.5f}",
        "give both, or the attention_factor itself",
        "warning",
    )


def _extrapolation(block: RopeBlock) -> Iterator[Problem]:
    share = block.values.get("extrapolation_factor")
    if share is not None and not (_is_number(share) and 0 <= share <= 1):
        yield Problem(
            f"extrapolation_factor is {share!r}; it is the share of the fast pairs that is not interpolated, 0 to 1",
            "write 1.0; the scale belongs in factor",
        )


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and not math.isnan(value)


RULES: tuple[Callable[[RopeBlock], Iterator[Problem]], ...] = (
    _factor,
    _lengths,
    _bands,
    _lists,
    _trained_length,
    _attention,
    _extrapolation,
)
