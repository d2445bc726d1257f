"""PE102: the scaling block of a config lacks a key it needs, or holds a value that cannot be."""

import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.doctor.check import check
from gnomon.doctor.evidence.configs import config_parts
from gnomon.report.document import Finding, Measured

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
LENGTHS_AGREE = 0.01  # how far factor may be from max_position_embeddings / original_max_position_embeddings


@check("PE102", "rope-scaling-fields", severity="error", needs=("config",))
def rope_scaling_fields(subject: Subject) -> Iterator[Finding | Measured]:
    """The rotary scaling block lacks a required key, has an impossible value, or is of a kind nobody knows.

    Why: transformers only logs a warning about a bad scaling block and carries on, so the model may run without
    scaling or with a default. Short prompts then look right, because scaling matters most beyond the trained length.

    Fix: give the keys that the kind needs: linear and dynamic take `factor` (at least 1); yarn `factor` and, where the
    stated length is not the trained one, `original_max_position_embeddings`; llama3 also `low_freq_factor` not above
    `high_freq_factor`; longrope `short_factor` and `long_factor` with one number for each rotated pair.

    Sources: transformers 5.24 `modeling_rope_utils.py` (required keys, ranges, warnings); optimum-habana issue 1154,
    transformers issue 38224 (a YaRN factor replaced by the ratio of the lengths).
    """
    parts = list(config_parts(subject.config))
    blocks = [(prefix + name, block, part) for prefix, part in parts for name, block in _blocks(part)]
    if not blocks:
        raise MissingEvidence("the config has no rope_scaling and no rope_parameters")
    problems = [(where, *problem) for where, block, part in blocks for problem in _problems(block, part)]
    yield Measured("problems in scaling blocks", len(problems), 0, f"{len(blocks)} blocks read")
    for where, message, fix, severe in problems:
        yield Finding(where, message, fix, severity="error" if severe else "warning")


Problem = tuple[str, str, bool]


def _blocks(config: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for name in ("rope_scaling", "rope_parameters"):
        block = config.get(name)
        if not isinstance(block, Mapping):
            continue
        nested = {key: value for key, value in block.items() if isinstance(value, Mapping)}
        if nested:
            yield from ((f"{name}.{key}", value) for key, value in nested.items())
        else:
            yield name, block


def _problems(block: Mapping[str, Any], config: Mapping[str, Any]) -> Iterator[Problem]:
    kind = block.get("rope_type") or block.get("type") or "default"
    if not isinstance(kind, str) or kind not in REQUIRED:
        yield f"the scaling kind {kind!r} is unknown", f"use one of {', '.join(REQUIRED)}", True
        return
    for key in REQUIRED[kind]:
        if block.get(key) is None and config.get(key) is None:
            yield f"{kind} scaling has no {key}", f"add {key} with the value the weights were trained with", True
    for rule in RULES:
        yield from rule(kind, block, config)


def _factor(kind: str, block: Mapping[str, Any], _: Mapping[str, Any]) -> Iterator[Problem]:
    factor = block.get("factor")
    if factor is None:
        return
    if isinstance(factor, bool) or not isinstance(factor, int | float):
        yield f"factor is {factor!r}, not a number of at least 1", "write new length / trained length", True
    elif not 1 <= factor < math.inf:
        yield f"factor is {factor}, not a number of at least 1", "write new length / trained length", True


def _lengths(kind: str, block: Mapping[str, Any], config: Mapping[str, Any]) -> Iterator[Problem]:
    original, longest, factor = (
        block.get("original_max_position_embeddings"),
        config.get("max_position_embeddings"),
        block.get("factor"),
    )
    if kind != "yarn" or not all(isinstance(n, int | float) and n > 0 for n in (original, longest, factor)):
        return
    ratio = float(longest) / float(original)  # type: ignore[arg-type]
    if abs(ratio - factor) > LENGTHS_AGREE * factor:  # type: ignore[operator]
        yield (
            f"factor is {factor} but max_position_embeddings / original_max_position_embeddings is {ratio:g}",
            "set max_position_embeddings to factor times the original length, or correct the factor",
            False,
        )


def _bands(kind: str, block: Mapping[str, Any], _: Mapping[str, Any]) -> Iterator[Problem]:
    low, high = block.get("low_freq_factor"), block.get("high_freq_factor")
    if kind == "llama3" and isinstance(low, int | float) and isinstance(high, int | float) and low > high:
        yield f"low_freq_factor {low} is above high_freq_factor {high}", "the published values are 1 and 4", True
    fast, slow = block.get("beta_fast", 32), block.get("beta_slow", 1)
    if kind == "yarn" and isinstance(fast, int | float) and isinstance(slow, int | float) and fast < slow:
        yield f"beta_fast {fast} is below beta_slow {slow}", "the published values are 32 and 1", True


def _lists(kind: str, block: Mapping[str, Any], _: Mapping[str, Any]) -> Iterator[Problem]:
    """Long and short factors: one number for each rotated pair, so two lists of one length."""
    given = [(key, block[key]) for key in ("short_factor", "long_factor") if block.get(key) is not None]
    bad = [key for key, values in given if not isinstance(values, list) or not all(map(_positive, values))]
    for key in bad:
        yield f"{key} is not a list of positive numbers", f"give {key} one number for each rotated pair", True
    if len(given) == 2 and not bad and len(given[0][1]) != len(given[1][1]):
        counts = f"short_factor has {len(given[0][1])} numbers but long_factor has {len(given[1][1])}"
        yield counts, "give both one number for each rotated pair", True


def _positive(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < math.inf


RULES: tuple[Callable[[str, Mapping[str, Any], Mapping[str, Any]], Iterator[Problem]], ...] = (
    _factor,
    _lengths,
    _bands,
    _lists,
)
