"""ollama's own converters: top-level keys of config.json, one struct for each architecture.

Source: `convert/convert*.go` of ollama, mostly at fb307609 (August 2026); `rope_parameters` mean nothing to these.
"""

from collections.abc import Callable, Mapping
from typing import Any

from gnomon.adapters.families.config_reader import Found
from gnomon.resolving.readers.llama_cpp.divisors import llama3
from gnomon.resolving.readers.llama_cpp.kernel import LONG, ONE, SHORT
from gnomon.resolving.readers.ollama.fields import Fields
from gnomon.resolving.readers.ollama.gemmas import gemma, gemma2, gemma3, gemma3_with_images
from gnomon.resolving.readers.ollama.made import NOT_TRACED, ORIGINAL, SCALING, Converted, Values
from gnomon.resolving.reading import DEFAULT
from gnomon.resolving.rules.formulas import longrope_magnitude, magnitude
from gnomon.resolving.rules.keys import Keys
from gnomon.resolving.stopping import NoSuchModel, StackStops


def converted(config: Mapping[str, Any], file: Keys) -> Converted:
    """By the first of `architectures`.

    Raises NoSuchModel for an architecture without a converter, StackStops where the converter panics.
    """
    listed = config.get("architectures")
    name = listed[0] if isinstance(listed, list) and listed else None
    if not isinstance(name, str):
        raise StackStops("unknown architecture: the file has no architectures")
    if name in NOT_TRACED:
        raise NoSuchModel(f"ollama's converter for {name} was not traced")
    if name not in _CONVERTERS:
        raise NoSuchModel(
            f"ollama has no converter for {name}; a GGUF file made by llama.cpp's behaves as in llama.cpp"
        )
    return _CONVERTERS[name](Fields(config), file)


def _llama(fields: Fields, file: Keys, architecture: str = "llama") -> Converted:
    """The width of a head is the division, whatever head_dim says; scaling by `type` linear or `rope_type` llama3."""
    width, heads = fields.whole("hidden_size", "n_embd"), fields.whole("num_attention_heads", "n_head")
    values: Values = {
        "context_length": fields.whole("max_position_embeddings", "n_ctx"),
        "embedding_length": width,
        "block_count": fields.whole("num_hidden_layers"),
        "attention.head_count": heads,
    }
    if heads.value:
        dim = fields.whole("hidden_size").value // heads.value
        values["rope.dimension_count"] = Found(dim, f"{width.key} / {heads.key}")
    if (head := fields.whole("head_dim")).value:
        values["attention.key_length"] = head
    if (base := fields.number("rope_theta")).value > 0:
        values["rope.freq_base"] = base
    block = fields.inner(SCALING)
    if (kind := block.text("type")).value == "linear":
        values.update({"rope.scaling.type": kind, "rope.scaling.factor": block.number("factor")})
    made = Converted(architecture, values)
    if block.text("rope_type").value == "llama3" and heads.value and width.value and base.value:
        made.factors[ONE] = _llama3(fields, block, int(width.value // heads.value))
        for name in ("rope_type", "factor", "low_freq_factor", "high_freq_factor", ORIGINAL):
            file.part(SCALING).take("llama3", name)
    elif kind.value != "linear" and block.values:
        made.notes = ("the converter drops this kind of scaling in silence",)
    return made


def _llama3(fields: Fields, block: Fields, dim: int) -> tuple[float, ...]:
    return llama3(
        fields.number("rope_theta").value,
        dim,
        block.number("factor", default=8.0).value,
        block.number("low_freq_factor", default=1.0).value,
        block.number("high_freq_factor", default=4.0).value,
        block.number(ORIGINAL, default=8192.0).value,
    )


def _llama4(fields: Fields, file: Keys) -> Converted:
    return _llama(fields.inner("text_config"), file.part("text_config"), "llama4")


def _qwen2(fields: Fields, file: Keys) -> Converted:
    """YaRN without its original length: turns are then counted in context_length."""
    values: Values = {
        "context_length": fields.whole("max_position_embeddings"),
        "embedding_length": fields.whole("hidden_size"),
        "attention.head_count": fields.whole("num_attention_heads"),
        "rope.freq_base": fields.number("rope_theta"),
    }
    block = fields.inner(SCALING)
    kind = block.text("type")
    if kind.value == "yarn":
        values.update({"rope.scaling.type": kind, "rope.scaling.factor": block.number("factor")})
        file.part(SCALING).lose(ORIGINAL, "the converter does not write it")
    elif kind.value not in ("", "mrope", "default"):
        raise StackStops("panic: unknown rope scaling type")
    return Converted("qwen2", values)


def _phi3(fields: Fields, file: Keys) -> Converted:
    """The rotated width is that of a whole head, whatever partial_rotary_factor says."""
    heads = fields.whole("num_attention_heads", "n_head")
    longest, original = fields.whole("max_position_embeddings"), fields.whole(ORIGINAL)
    if not heads.value:
        raise StackStops("panic: integer divide by zero")
    values: Values = {
        "context_length": longest,
        "embedding_length": fields.whole("hidden_size", "n_embd"),
        "attention.head_count": heads,
        "rope.dimension_count": Found(fields.whole("hidden_size").value // heads.value, f"hidden_size / {heads.key}"),
        "rope.freq_base": fields.number("rope_theta"),
        "rope.scaling.original_context_length": original,
    }
    block = fields.inner(SCALING)
    kind = block.text("type").value
    if kind and original.value:
        ratio = longest.value / original.value
        grown = longrope_magnitude(ratio, original.value) if kind in ("su", "longrope") else magnitude(ratio)
        values["rope.scaling.attn_factor"] = Found(grown, f"{longest.key} / {original.key}")
    if kind not in ("", "su", "longrope", "yarn"):
        raise StackStops("panic: unknown rope scaling type")
    file.lose("partial_rotary_factor", "the converter takes whole heads")
    made = Converted("phi3", values)
    long, short = block.numbers("long_factor"), block.numbers("short_factor")
    if long and short:
        made.factors = {LONG: long, SHORT: short}
        for name in ("long_factor", "short_factor", "type"):
            file.part(SCALING).take("lists", name)
    return made


def _gpt_oss(fields: Fields, file: Keys) -> Converted:
    block = fields.inner(SCALING)
    values: Values = {
        "context_length": fields.whole("max_position_embeddings"),
        "embedding_length": fields.whole("hidden_size"),
        "attention.head_count": fields.whole("num_attention_heads"),
        "attention.key_length": fields.whole("head_dim"),
        "rope.freq_base": fields.number("rope_theta"),
    }
    if (kind := block.text("rope_type")).value == "yarn":
        values["rope.scaling.type"] = kind
        values["rope.scaling.factor"] = block.number("factor")
        values["rope.scaling.original_context_length"] = fields.whole("initial_context_length")
    file.part(SCALING).lose("truncate", "not read; the ends of the ramp are always rounded")
    return Converted("gpt-oss", _without_zeros(values, "attention.key_length"))


def _deepseek(fields: Fields, file: Keys) -> Converted:
    block = fields.inner(SCALING)
    rotated, rest = fields.whole("qk_rope_head_dim"), fields.whole("qk_nope_head_dim")
    all_dim = block.number("mscale_all_dim")
    return Converted(
        "deepseek2",
        {
            "context_length": fields.whole("max_position_embeddings"),
            "attention.key_length": Found(rest.value + rotated.value, f"{rest.key} + {rotated.key}"),
            "rope.dimension_count": rotated,
            "rope.freq_base": fields.number("rope_theta", default=1e4),
            "rope.scaling.factor": block.number("factor"),
            "rope.scaling.original_context_length": block.whole(ORIGINAL),
            "rope.scaling.type": block.text("type"),
            "rope.scaling.yarn_log_multiplier": Found(0.1 * all_dim.value, all_dim.key),
        },
    )


def _command_r(fields: Fields, file: Keys) -> Converted:
    values: Values = {
        "context_length": fields.whole("model_max_length", "max_position_embeddings", "n_ctx"),
        "embedding_length": fields.whole("hidden_size"),
        "attention.head_count": fields.whole("num_attention_heads"),
        "rope.freq_base": fields.number("rope_theta"),
        "rope.scaling.type": Found("none", DEFAULT),
    }
    return Converted("command-r", values)


def _without_zeros(values: Values, *names: str) -> Values:
    return {name: found for name, found in values.items() if name not in names or found.value}


_CONVERTERS: dict[str, Callable[[Fields, Keys], Converted]] = {
    "LlamaForCausalLM": _llama,
    "MixtralForCausalLM": _llama,
    "Llama4ForConditionalGeneration": _llama4,
    "Qwen2ForCausalLM": _qwen2,
    "Phi3ForCausalLM": _phi3,
    "GptOssForCausalLM": _gpt_oss,
    "GemmaForCausalLM": gemma,
    "Gemma2ForCausalLM": gemma2,
    "Gemma3ForCausalLM": gemma3,
    "Gemma3ForConditionalGeneration": gemma3_with_images,
    "DeepseekV3ForCausalLM": _deepseek,
    "CohereForCausalLM": _command_r,
}
