"""Megatron-Bridge's way from a config to Megatron-LM's rotary classes: few kinds of scaling, others silently plain."""

from dataclasses import dataclass, replace
from typing import Any, Final, final

from gnomon.resolving.readers.serving.layers import Layer, Turning
from gnomon.resolving.rules import formulas, scaling
from gnomon.resolving.rules.angles import Always, Angles, Schedule
from gnomon.resolving.rules.choices import Choices, unknown
from gnomon.resolving.rules.keys import Keys
from gnomon.resolving.rules.scaling import ORIGINAL, Scaled
from gnomon.resolving.rules.yarn import softmax_multiplier, yarn
from gnomon.resolving.stopping import NoSuchModel, StackStops

#: bridges whose way of reading was traced
MODELS: Final = frozenset(
    {
        *("llama", "llama4_text", "mistral", "qwen2", "qwen2_moe", "qwen3", "qwen3_moe", "gemma", "gemma2"),
        *("gemma3", "gemma3_text", "gpt_oss", "deepseek_v2", "deepseek_v3"),
    }
)
LLAMA: Final = frozenset({"llama", "llama4_text"})
LATENT: Final = frozenset({"deepseek_v2", "deepseek_v3"})
FULL: Final = "full_attention"
#: what Megatron-LM has in its code for Llama 3, and its bridge for gpt-oss
LOW, HIGH, LENGTH = 1.0, 4.0, 8192.0
GPT_OSS: Final = {"factor": 32.0, ORIGINAL: 4096, "beta_fast": 32.0, "beta_slow": 1.0, "truncate": False}


@final
@dataclass(frozen=True)
class Rules:
    """What differs between its versions: whether the bridge passes linear scaling on."""

    linear: bool


def turned(layer: Layer, choices: Choices, rules: Rules) -> Turning:
    """One kind of layer."""
    keys, model = layer.keys, layer.model_type
    base = keys.number("base", "rope_theta")
    if base is None:
        raise StackStops("rope_theta is null")
    over = Scaled(base, layer.block.rotary_dim.value, layer.longest, None)
    rule = _kind(layer, choices)
    if model == "gpt_oss":
        return _gpt_oss(layer, over, choices)
    if rule == "yarn" or model in LATENT:
        return _yarn(layer, over, rule, choices)
    if rule == "llama3" and model in LLAMA:
        return Turning("llama3", base, over.dim, _llama3(over, keys))
    scaled = model in LLAMA or (model.startswith("gemma3") and layer.block.kind == FULL)
    if rule == "linear" and scaled and rules.linear:
        return Turning("linear", base, over.dim, scaling.linear(over, keys))
    if rule != "default":
        unknown(choices, f"{rule} is not known")
        keys.lose("factor", f"{rule} is passed over without a word")
    return Turning("default", base, over.dim, scaling.unscaled(over))


def _kind(layer: Layer, choices: Choices) -> str:
    """By `kind_key` where the file has both spellings."""
    origin = layer.block.origins.get("rope_type", "")
    place: Any = layer.file.values
    for step in origin.split(".")[:-1]:
        place = place.get(step, {})
    other = place.get("type") if origin.endswith(".rope_type") and choices.kind_key == "type" else None
    rule = layer.keys.text("kind", "rope_type")
    return other if isinstance(other, str) else str(rule)


def _llama3(over: Scaled, keys: Keys) -> Schedule:
    fixed = {"low_freq_factor": LOW, "high_freq_factor": HIGH, ORIGINAL: LENGTH}
    for name, value in fixed.items():
        keys.note("original length" if name == ORIGINAL else name, value)
        keys.lose(name, f"fixed: {LOW:g}, {HIGH:g} and {LENGTH:g}")
    return Always(Angles(formulas.llama3(over.plain, keys.number("factor", "factor", default=8.0), LOW, HIGH, LENGTH)))


def _yarn(layer: Layer, over: Scaled, rule: str, choices: Choices) -> Turning:
    """Over the whole head. With latent attention any other kind of scaling becomes YaRN by 1, with a warning."""
    keys, latent = layer.keys, layer.model_type in LATENT
    dim = layer.block.turned.value
    if rule != "yarn":
        notes = () if rule == "default" else (f"{rule} becomes YaRN by 1, with a warning",)
        return Turning("default", over.base, dim, scaling.unscaled(replace(over, dim=dim)), softmax=1.0, notes=notes)
    keys.lose("attention_factor", "not read")
    keys.lose("partial_rotary_factor", "the whole head turns under YaRN")
    original = keys.number("original length", ORIGINAL)
    schedule = yarn(replace(over, dim=dim, original=original), keys, choices)
    softmax = None
    if latent:
        softmax = softmax_multiplier(keys, factor=40.0)
    return Turning("yarn", over.base, dim, schedule, softmax=softmax)


def _gpt_oss(layer: Layer, over: Scaled, choices: Choices) -> Turning:
    for name in (*GPT_OSS, "attention_factor"):
        layer.keys.lose(name, "fixed in the bridge: 32 from 4096 tokens, ends not rounded")
    if over.longest is None:
        raise NoSuchModel("gpt-oss without a longest length was not traced")
    original = float(GPT_OSS[ORIGINAL])
    schedule = yarn(replace(over, original=original), Keys(GPT_OSS), choices)
    return Turning("yarn", over.base, over.dim, schedule)
