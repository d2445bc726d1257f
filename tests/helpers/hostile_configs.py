"""Files that make no sense, and what every stack has to make of them: layers that can be computed, or a sentence."""

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from gnomon.resolving.reading import Reading
from gnomon.resolving.rules.keys import position_keys
from gnomon.resolving.stack import Stack
from tests.helpers.stack_readings import KNOWN, LLAMA, read

LENGTHS = (1, 5000)
SERVED = 8192
SAMPLE = 7  #: every so many files are read by versions that are not the newest
HOSTILE: tuple[Any, ...] = ("text", float("nan"), float("inf"), [1], {}, 1e300, -1, 0, True, "", 10**30, None)
UNWISE: tuple[Any, ...] = ("text", True, [], {}, [1], math.nan, math.inf, 0, -1, -3.5, 1e300, 1e-300, 10**400, None)
KINDS = ("default", "linear", "dynamic", "yarn", "llama3", "longrope", "su", "proportional", "mrope", "ntk", "Llama3")
OUTSIDE = (
    *("max_position_embeddings", "hidden_size", "num_attention_heads", "head_dim", "rope_theta", "rotary_dim"),
    *("original_max_position_embeddings", "partial_rotary_factor", "rotary_emb_base", "rotary_pct"),
    *("model_max_length", "seq_length", "rope_scaling", "rope_parameters", "model_type", "max_trained_positions"),
)
INSIDE = (
    *("rope_type", "factor", "original_max_position_embeddings", "beta_fast", "beta_slow", "attention_factor"),
    *("mscale", "mscale_all_dim", "attn_factor", "extrapolation_factor", "alpha", "low_freq_factor", "truncate"),
    *("high_freq_factor", "short_factor", "long_factor", "short_mscale", "partial_rotary_factor", "mrope_section"),
    *("rope_theta", "mixed_b", "max_trained_positions", "rope_dim", "apply_yarn_scaling"),
)


def unwise_configs() -> Iterator[dict[str, Any]]:
    """Configs of every kind of scaling with one value that makes no sense, and with next to nothing."""
    yield {}
    yield {"model_type": "llama"}
    for family in ("llama", "phi3", "deepseek_v3", "gemma3_text"):
        for kind in KINDS:
            whole = {
                "factor": 4.0,
                "original_max_position_embeddings": 512,
                "rope_type": kind,
                "mrope_section": [2, 3, 3],
            }
            whole |= {"low_freq_factor": 1.0, "high_freq_factor": 4.0, "alpha": 3.0} if kind == "llama3" else {}
            whole |= {"short_factor": [1.0] * 64, "long_factor": [2.0] * 64} if kind in ("longrope", "su") else {}
            config = {**LLAMA, "model_type": family, "rope_scaling": whole}
            yield config
            if family == "llama":
                yield from ({**config, "rope_scaling": {**whole, key: odd}} for key in INSIDE for odd in UNWISE)
                yield from ({**config, key: odd} for key in OUTSIDE for odd in UNWISE[:8])


def hostile_configs() -> Iterator[dict[str, Any]]:
    """Known configs with one value replaced by what no stack expects, and files that lack nearly everything."""
    for name in (
        "qwen3-8b-yarn",
        "llama-3.1-8b",
        "phi-4-mini",
        "gemma-3-4b",
        "deepseek-v3",
        "pythia-1b",
        "llama-4-scout",
    ):
        config = KNOWN[name]
        others = [
            ("hidden_size", 0),
            ("num_attention_heads", 0),
            ("head_dim", 0),
            ("rope_scaling", 0),
            ("model_type", 0),
        ]
        for path, _ in [*position_keys(config), *others]:
            for value in HOSTILE:
                yield _with(config, path.split("."), value)
    for kind in ("llama", "qwen2", "gemma3", "phi3"):
        yield {"model_type": kind}
    yield {}


def _with(config: Any, path: list[str], value: Any) -> dict[str, Any]:
    return {**config, path[0]: value if len(path) == 1 else _with(config[path[0]], path[1:], value)}


def sane(reading: Reading) -> None:
    """Holds for every reading of every file: it ends with one sentence, or all its layers can be computed."""
    assert not reading.broken
    if not reading.serves:
        assert bool(reading.refusal) != bool(reading.absent)
        assert (reading.refusal + reading.absent).strip()
        assert not reading.layers
        return
    assert reading.layers
    assert reading.cap is None or type(reading.cap) is int
    for layer in reading.layers:
        assert layer.rotary_dim >= 0
        for length in LENGTHS:
            assert type(layer.logit_factor(length, SERVED)) is float
            angles = layer.schedule.at(length, SERVED)
            assert angles.inverse.dtype == np.float64
            assert angles.inverse.shape == ((layer.rotary_dim + 1) // 2,)


def endured(stack: Stack, version: str, configs: Iterable[Mapping[str, Any]]) -> float:
    """Which share of the files the stack serves; all of them are read by its newest version, a sample by others."""
    newest = version in ("", stack.versions[0].name)
    served = []
    with np.errstate(all="ignore"):
        for number, config in enumerate(configs):
            if newest or number % SAMPLE == 0:
                reading = read(stack, config, version)
                sane(reading)
                served.append(reading.serves)
    return sum(served) / len(served)


def survived(stack: Stack, version: str = "") -> float:
    """As `endured`, over `unwise_configs`."""
    return endured(stack, version, unwise_configs())
