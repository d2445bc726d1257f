"""What attention modules of transformers 5.24 multiply logits by, beside 1/sqrt(head width) and the rotary block."""

import math
from collections.abc import Callable, Mapping
from typing import Any, Final

from gnomon.adapters.families.config_reader import ConfigReader
from gnomon.resolving.reading import Used
from gnomon.resolving.rules.angles import Temperature
from gnomon.resolving.rules.formulas import latent_softmax
from gnomon.resolving.rules.numbers import required
from gnomon.resolving.stopping import StackStops

Scale = tuple[float, tuple[Used, ...]]
NONE: Final[Scale] = (1.0, ())


def softmax_scale(model: str, config: ConfigReader, block: Mapping[str, Any], head_dim: int) -> Scale:
    """The multiplier of 1/sqrt(head_dim) by model type, and what decided it.

    DeepSeek: (0.1 mscale_all_dim ln(factor) + 1)^2 under any scaling. Gemma 2 and 3: 1/sqrt(query_pre_attn_scalar) in
    its place. Gemma 4: 1 in its place. Granite: attention_multiplier in its place.
    """
    rule = _SCALES.get(model)
    return NONE if rule is None else rule(config, block, head_dim)


def temperature(model: str, config: ConfigReader, block: Mapping[str, Any], *, turns: bool) -> Temperature | None:
    """The factor that grows with the position of a query: Llama 4's layers without rotation, all of Ministral 3's."""
    if model == "llama4_text" and not turns:
        if not config.find("attn_temperature_tuning", default=True).value:
            return None
        beta, length = _number(config, "attn_scale", 0.1), _number(config, "floor_scale", 8192)
        return Temperature(beta, length, shift=1)
    if model == "ministral3":
        share, original = (block.get(name) for name in ("llama_4_scaling_beta", "original_max_position_embeddings"))
        if not isinstance(share, int | float) or not isinstance(original, int | float) or original <= 0:
            raise StackStops("Ministral 3 multiplies queries by llama_4_scaling_beta, which its block lacks")
        return Temperature(float(share), float(original))
    return None


def _of_gemma(config: ConfigReader, block: Mapping[str, Any], head_dim: int) -> Scale:
    name = "query_pre_attn_scalar"
    scalar = _number(config, name, 256)
    return math.sqrt(head_dim / scalar), (Used("softmax", scalar, config.find(name).key),)


def _of_gemma4(config: ConfigReader, block: Mapping[str, Any], head_dim: int) -> Scale:
    return math.sqrt(head_dim), (Used("softmax", 1.0),)


def _of_granite(config: ConfigReader, block: Mapping[str, Any], head_dim: int) -> Scale:
    name = "attention_multiplier"
    scale = _number(config, name, 1.0)
    return scale * math.sqrt(head_dim), (Used("softmax", scale, config.find(name).key),)


def _of_deepseek(config: ConfigReader, block: Mapping[str, Any], head_dim: int) -> Scale:
    share = block.get("mscale_all_dim")
    if block.get("rope_type") == "default" or not share:
        return NONE
    factor = block.get("factor")
    if not isinstance(share, int | float) or not isinstance(factor, int | float):
        raise StackStops("the softmax scale with mscale_all_dim lacks a factor")
    scale = latent_softmax(float(factor), float(share))
    return scale, (Used("softmax", scale, "mscale_all_dim"),)


def _number(config: ConfigReader, name: str, default: float) -> float:
    found = config.find(name, default=default)
    return required(found.value, found.key, "number above zero", 0, math.inf)


_SCALES: Final[Mapping[str, Callable[[ConfigReader, Mapping[str, Any], int], Scale]]] = {
    **dict.fromkeys(("gemma2", "gemma3", "gemma3_text"), _of_gemma),
    "gemma4_text": _of_gemma4,
    **dict.fromkeys(("granite", "granitemoe"), _of_granite),
    **dict.fromkeys(("deepseek_v2", "deepseek_v3"), _of_deepseek),
}
