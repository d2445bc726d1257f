"""Rope types of Hugging Face configs as gnomon's frequency rules: kinds, names of options, and the keys they came from.

Readings follow `modeling_rope_utils.py` of transformers 5.24.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, final

from gnomon.adapters.families.config_reader import LENGTH, ConfigReader, Found

FRACTION, ORIGINAL = "partial_rotary_factor", "original_max_position_embeddings"
SCALED = {"factor": "factor", "original_max_length": ORIGINAL}


@final
@dataclass(frozen=True)
class RuleNames:
    """gnomon's kind and, for each of its options beside the base, the key of the config.

    `multipliers`: keys of other stacks that transformers does not read; they are noted, not applied.
    """

    kind: str
    options: Mapping[str, str] = field(default_factory=dict)
    multipliers: tuple[str, ...] = ()


RULES: Mapping[str, RuleNames] = {
    "default": RuleNames("plain"),
    "linear": RuleNames("linear", {"factor": "factor"}),
    "dynamic": RuleNames("dynamic", {"factor": "factor"}, multipliers=("alpha",)),
    "longrope": RuleNames(
        "longrope",
        {
            **SCALED,
            **{name: name for name in ("short_factor", "long_factor", "attention_factor")},
        },
        multipliers=("short_mscale", "long_mscale"),
    ),
    "yarn": RuleNames(
        "yarn",
        {
            **SCALED,
            **{
                name: name
                for name in ("beta_fast", "beta_slow", "truncate", "attention_factor", "mscale", "mscale_all_dim")
            },
        },
        # The authors' code, llama.cpp and older vLLM multiply the attention factor by the first.
        multipliers=("attn_factor", "extrapolation_factor"),
    ),
    "llama3": RuleNames(
        "llama3", {**SCALED, "low_freq_factor": "low_freq_factor", "high_freq_factor": "high_freq_factor"}
    ),
    "proportional": RuleNames("proportional", {"fraction": FRACTION, "factor": "factor"}),
}


def frequencies_of(
    config: ConfigReader, rope_type: Any, values: Mapping[str, Found]
) -> tuple[dict[str, Any], dict[str, str]]:
    """Frequencies in gnomon's words, and the keys of their options as `frequencies.base`, ...

    A type that gnomon does not build keeps its own name and the keys of the config, and the note says so.
    """
    rule = RULES.get(rope_type) if isinstance(rope_type, str) else None
    if rule is None:
        found = {name: item for name, item in values.items() if name not in ("rope_theta", FRACTION)}
        note = f"gnomon does not build {rope_type} frequencies yet"
    else:
        found = {name: values[key] for name, key in rule.options.items() if key in values} | _implied(
            rule, config, values
        )
        ignored = [key for key in rule.multipliers if key in values]
        note = f"transformers does not read {' and '.join(ignored)}, and neither does gnomon" if ignored else ""
    found = {"base": values["rope_theta"], **found}
    options = {"kind": rule.kind if rule else rope_type} | {name: item.value for name, item in found.items()}
    keys = {f"frequencies.{name}": item.key for name, item in found.items()}
    return options, keys | ({"note": note} if note else {})


def _implied(rule: RuleNames, config: ConfigReader, values: Mapping[str, Found]) -> dict[str, Found]:
    """Options that the parameters leave out and the rest of the config gives."""
    if rule.kind == "proportional" and FRACTION not in values:
        return {"fraction": config.find(FRACTION, default=1.0)}
    longest = config.find(*LENGTH)
    if rule.kind == "dynamic" and longest.integer:
        return {"original_max_length": longest}
    if rule.kind in ("yarn", "longrope") and "factor" not in values:
        original = values.get(ORIGINAL, Found(None, "default"))
        if longest.integer and original.integer:
            ratio = longest.integer / original.integer
            least = ratio if rule.kind == "yarn" else max(ratio, 1.0)
            return {"factor": Found(least, f"{longest.key} / {original.key}")}
    return {}
