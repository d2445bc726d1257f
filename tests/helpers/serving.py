"""Small configs for stacks that serve, and what a reading of one says; golden numbers of YaRN and its relatives."""

import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from gnomon.resolving.gallery import gallery
from gnomon.resolving.given import Given
from gnomon.resolving.reading import LayerReading, Reading
from gnomon.resolving.stack import Stack

LLAMA = {"model_type": "llama", "hidden_size": 256, "num_attention_heads": 2, "max_position_embeddings": 2048}
#: width 128, base 1e6, L 32768, s 4: YaRN over plain frequencies of pairs 23, 24, 28, 32, 36, 39, 40, 41, 63
PAIRS = (23, 24, 28, 32, 36, 39, 40, 41, 63)
ROUNDED = (1, 0.955882, 0.779412, 0.602941, 0.426471, 0.294118, 0.25, 0.25, 0.25)
EXACT = (1, 0.981125, 0.794266, 0.607408, 0.420549, 0.280406, 0.25, 0.25, 0.25)
#: gpt-oss (width 64, base 1.5e5, L 4096, s 32) at pairs 8, 9, 12, 13, 16, 17, 18
GPT_OSS_PAIRS = (8, 9, 12, 13, 16, 17, 18)
GPT_OSS_EXACT = (1, 0.905551, 0.593227, 0.489119, 0.176795, 0.072688, 0.03125)
GPT_OSS_ROUNDED = (1, 0.903125, 0.612500, 0.515625, 0.225000, 0.128125, 0.03125)
#: DeepSeek-V3 (width 64, base 1e4, L 4096, s 40), ends rounded
DEEPSEEK_PAIRS = (10, 11, 15, 16, 20, 22, 23)
DEEPSEEK_ROUNDED = (1, 0.925, 0.625, 0.55, 0.25, 0.1, 0.025)
#: 0.1 ln(s) + 1
G4, G16, G32, G64 = 1.138629, 1.277259, 1.346574, 1.415888


def known(name: str) -> dict[str, Any]:
    """A config of the gallery."""
    return next(dict(entry.config) for entry in gallery() if entry.name == name)


def read(stack: Stack, config: Mapping[str, Any], version: str = "", served: int | None = None) -> Reading:
    return stack.reading(Given("made", config=config), stack.version(version) if version else None, served)


def layer(reading: Reading, kind: str = "") -> LayerReading:
    """The layer of a kind, or the only one; fails with what the stack says where it does not serve."""
    assert reading.serves, reading.refusal + reading.absent
    if kind:
        found = reading.layer(kind)
        assert found is not None, [each.kind for each in reading.layers]
        return found
    [only] = reading.layers
    return only


def ratios(found: LayerReading, length: int = 1, served: int | None = None) -> np.ndarray:
    """Frequencies over the plain ones of the same base."""
    assert found.base is not None
    plain = [found.base ** -(2 * pair / found.rotary_dim) for pair in range(found.rotary_dim // 2)]
    result: np.ndarray = found.schedule.at(length, served or length).inverse / np.array(plain)
    return result


def magnitude(found: LayerReading, length: int = 1, served: int | None = None) -> float:
    return found.schedule.at(length, served or length).magnitude


def base_at(found: LayerReading, length: int, served: int | None = None) -> float:
    """The base that the second frequency speaks of."""
    second = float(found.schedule.at(length, served or length).inverse[1])
    return math.pow(second, -found.rotary_dim / 2)


def reasons(reading: Reading) -> dict[str, str]:
    """Ignored keys, and why."""
    return {item.key: item.why for item in reading.ignored}


def decided(reading: Reading, what: str) -> str:
    """The key that decided something in the first layer, or in the whole."""
    return next(item.key for item in (*reading.used, *reading.layers[0].used) if item.what == what)


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


def survives(stack: Stack, version: str) -> int:
    """Reads all of `unwise_configs` and looks at every layer at two lengths; how many the stack serves."""
    served = 0
    for config in unwise_configs():
        reading = read(stack, config, version)
        served += reading.serves
        for found in reading.layers:
            for length in (1, 5000):
                assert found.logit_factor(length, 8192) is not None
                assert len(found.schedule.at(length, 8192).inverse) * 2 == found.rotary_dim
    return served
