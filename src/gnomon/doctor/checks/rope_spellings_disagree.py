"""PE101: one config states the rotary settings twice, and the two statements differ."""

from collections.abc import Iterator, Mapping
from typing import Any

from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.doctor.check import check
from gnomon.doctor.evidence.configs import config_parts
from gnomon.report.document import Finding, Measured

SAME_NUMBER = 1e-6  # relative


@check("PE101", "rope-spellings-disagree", severity="error", needs=("config",))
def rope_spellings_disagree(subject: Subject) -> Iterator[Finding | Measured]:
    """The config gives one rotary setting under two names with two values.

    Why: transformers 5 keeps the base and the scaling in `rope_parameters`, version 4 in `rope_theta` and
    `rope_scaling`, and old files say `type` where new ones say `rope_type`. Each serving stack reads one of the
    spellings, so a file in which they differ is two models: one where it was made, another where it is served.

    Fix: decide which value the weights were trained with and write it under every spelling that the file has.

    Sources: DeepSpeed issue 8345 (every model at base 10000 after an upgrade), vLLM issue 28542, Unsloth issue 7028;
    transformers 5.24 `modeling_rope_utils.py` for the order in which the spellings win.
    """
    pairs = [pair for prefix, part in config_parts(subject.config) for pair in _spellings(prefix, part)]
    if not pairs:
        raise MissingEvidence("the config states no rotary setting twice")
    differing = [(key, a, b) for key, a, b in pairs if not _same(a[1], b[1])]
    yield Measured("settings stated twice that differ", len(differing), 0, f"{len(pairs)} are stated twice")
    for key, (first, one), (second, other) in differing:
        yield Finding(
            "config.json",
            f"{first} says {one!r} but {second} says {other!r}: stacks that read different keys run different models",
            f"write the trained {key} under both {first} and {second}",
            {first: one, second: other},
        )


Statement = tuple[str, Any]


def _spellings(prefix: str, config: Mapping[str, Any]) -> Iterator[tuple[str, Statement, Statement]]:
    """Each setting that is stated twice: its name, and the two statements with their keys."""
    for key, (first, one), (second, other) in _pairs(config):
        yield key, (prefix + first, one), (prefix + second, other)


def _pairs(config: Mapping[str, Any]) -> Iterator[tuple[str, Statement, Statement]]:
    modern, legacy = config.get("rope_parameters"), config.get("rope_scaling")
    if isinstance(modern, Mapping) and not any(isinstance(value, Mapping) for value in modern.values()):
        for key in ("rope_theta", "partial_rotary_factor"):
            if key in modern and config.get(key) is not None:
                yield key, (key, config[key]), (f"rope_parameters.{key}", modern[key])
        if isinstance(legacy, Mapping):
            for key in sorted((set(modern) & set(legacy)) - {"type", "rope_type"}):
                yield key, (f"rope_scaling.{key}", legacy[key]), (f"rope_parameters.{key}", modern[key])
            kinds = [mapping.get("rope_type", mapping.get("type")) for mapping in (legacy, modern)]
            if None not in kinds:
                yield "rope type", ("rope_scaling.rope_type", kinds[0]), ("rope_parameters.rope_type", kinds[1])
    for name, mapping in (("rope_scaling", legacy), ("rope_parameters", modern)):
        if isinstance(mapping, Mapping) and "type" in mapping and "rope_type" in mapping:
            yield "rope type", (f"{name}.type", mapping["type"]), (f"{name}.rope_type", mapping["rope_type"])


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, int | float) and isinstance(other, int | float):
        return abs(one - other) <= SAME_NUMBER * max(abs(one), abs(other))
    return bool(one == other)
