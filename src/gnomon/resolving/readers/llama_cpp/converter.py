"""What llama.cpp's converter makes of a config: metadata and divisors; what it passes over is recorded with a reason.

Sources: `conversion/{llama,phi,deepseek,mistral3,minicpm,hunyuan,glm,command_r,falcon,gpt_neox}.py`, 2026.
"""

from collections.abc import Callable

from gnomon.adapters.families.config_reader import HEADS, WIDTH, Found
from gnomon.resolving.readers.llama_cpp.divisors import llama3, two_lists
from gnomon.resolving.readers.llama_cpp.gemmas import gemma, gemma4
from gnomon.resolving.readers.llama_cpp.general import LLAMAS, NOT_WRITTEN, ORIGINAL, general, number, sizes, whole
from gnomon.resolving.readers.llama_cpp.kernel import ONE
from gnomon.resolving.readers.llama_cpp.sources import LENGTHS, source_of
from gnomon.resolving.readers.llama_cpp.writer import Writer
from gnomon.resolving.rules.formulas import longrope_magnitude, magnitude, ntk_base
from gnomon.resolving.rules.keys import Keys
from gnomon.resolving.stopping import StackStops


def converted(file: Keys, *, new_form: bool) -> Writer:
    """`new_form`: whether rope_parameters are read (since PR #18013, and then through transformers 5)."""
    writer = Writer(source_of(file.values, new_form=new_form), file)
    architecture = writer.source.architecture
    if architecture == "gptneox":
        _gpt_neox(writer, new_form=new_form)
    else:
        _SPECIAL.get(architecture, general)(writer)
    return writer


def _llama(writer: Writer) -> None:
    general(writer)
    source = writer.source
    writer.copy("rope.dimension_count", source.block.head)
    if source.architecture == "mistral3" and source.model_type == "ministral3":
        _ministral(writer)
    if source.architecture == "granite":
        writer.copy("attention.scale", source.find("attention_multiplier"))
    block = writer.block
    if str(source.block.values.get("rope_type", "")).lower() != "llama3":
        return
    outer = source.find(ORIGINAL, default=8192.0)
    if outer.value != source.block.values.get(ORIGINAL):
        block.lose(ORIGINAL, f"the converter takes the one outside the block, or 8192: {outer.value}")
        writer.notes.append(f"the divisors are made over a length of {outer.value}")
    else:
        block.take("original length", ORIGINAL)
    writer.factors[ONE] = llama3(
        block.number("base", "rope_theta", default=1e4),
        int(source.block.head.value),
        block.number("factor", "factor", default=8.0),
        block.number("low_freq_factor", "low_freq_factor", default=1.0),
        block.number("high_freq_factor", "high_freq_factor", default=4.0),
        number(outer),
    )


def _ministral(writer: Writer) -> None:
    held = writer.source.block
    if held.values.get("rope_type") != "yarn":
        raise StackStops("AssertionError: ministral3 rope_type must be 'yarn'")
    multiplier, beta = held.found("mscale_all_dim"), held.found("llama_4_scaling_beta")
    writer.needed("rope.scaling.yarn_log_multiplier", multiplier, "mscale_all_dim")
    writer.needed("attention.temperature_scale", beta, "llama_4_scaling_beta")


def _deepseek(writer: Writer) -> None:
    general(writer)
    source = writer.source
    rotated, rest = source.find("qk_rope_head_dim", default=64), source.find("qk_nope_head_dim", default=128)
    writer.copy("attention.key_length_mla", Found(whole(rotated) + whole(rest), f"{rest.key} + {rotated.key}"))
    writer.values.pop("attention.key_length", None)
    writer.copy("rope.dimension_count", rotated)
    all_dim = source.block.found("mscale_all_dim")
    if all_dim.value is not None:
        writer.put("rope.scaling.yarn_log_multiplier", 0.1 * number(all_dim), all_dim.key)


def _phi3(writer: Writer) -> None:
    source, block = writer.source, writer.block
    sizes(writer)
    original = source.block.found(ORIGINAL)
    original = original if original.value is not None else source.find(ORIGINAL)
    writer.needed("rope.scaling.original_context_length", original, ORIGINAL)
    share = block.number("share of a head", "partial_rotary_factor", default=1.0)
    width, heads = source.find(*WIDTH), source.find(*HEADS)
    dim = int(share * whole(width)) // whole(heads)
    writer.put("rope.dimension_count", dim, source.block.found("partial_rotary_factor").key)
    writer.needed("rope.freq_base", source.block.found("rope_theta"), "rope_theta")
    if not source.block.values.get("long_factor"):
        return
    kind = block.text("kind", "rope_type", default="").lower()
    ratio = number(source.context) / max(number(original), 1e-9)
    if kind in ("su", "longrope"):
        factor = longrope_magnitude(ratio, number(original))
    elif kind == "yarn":
        factor = magnitude(ratio)
    else:
        raise StackStops(f"NotImplementedError: the rope scaling type {kind!r} of phi3")
    writer.put("rope.scaling.attn_factor", factor, f"{source.context.key} / {original.key}")
    for name in ("attention_factor", "factor", "short_mscale", "long_mscale"):
        block.lose(name, NOT_WRITTEN)
    two_lists(writer, dim)


def _gpt_neox(writer: Writer, *, new_form: bool) -> None:
    source = writer.source
    if new_form:
        raise StackStops("KeyError: 'rotary_pct', which transformers 5 has renamed in what the converter reads")
    sizes(writer)
    share = source.find("rotary_pct", default=0.25)
    writer.put("rope.dimension_count", int(number(share) * whole(source.block.head)), share.key)
    writer.block.lose("rope_theta", f"{NOT_WRITTEN} for GPT-NeoX")


def _falcon(writer: Writer) -> None:
    sizes(writer)
    writer.put("context_length", 2048)
    writer.file.lose("max_position_embeddings", "the converter writes 2048, whatever the file says")
    writer.block.lose("rope_theta", f"{NOT_WRITTEN} for Falcon")


def _command_r(writer: Writer) -> None:
    general(writer)
    writer.copy("context_length", writer.source.find("model_max_length", *LENGTHS))
    _no_scaling(writer)


def _cohere2(writer: Writer) -> None:
    general(writer)
    share = writer.source.find("rotary_pct")
    if share.value is None:
        raise StackStops("KeyError: 'rotary_pct'")
    width, heads = writer.source.find(*WIDTH), writer.source.find(*HEADS)
    writer.put("rope.dimension_count", int(number(share) * (whole(width) // whole(heads))), share.key)
    _no_scaling(writer)


def _no_scaling(writer: Writer) -> None:
    writer.put("rope.scaling.type", "none")


def _glm4(writer: Writer) -> None:
    general(writer)
    share = writer.source.block.found("partial_rotary_factor", default=0.5)
    writer.put("rope.dimension_count", int(whole(writer.source.block.head) * number(share)), share.key)


def _hunyuan(writer: Writer) -> None:
    general(writer)
    source, block = writer.source, writer.block
    if source.block.values.get("rope_type") != "dynamic":
        return
    alpha = source.block.found("alpha", default=50.0)
    base, head = block.number("base", "rope_theta", default=1e4), whole(source.block.head)
    writer.put("rope.freq_base", ntk_base(base, number(alpha), head), alpha.key)
    _no_scaling(writer)
    writer.put("rope.scaling.factor", 1)
    writer.put("rope.scaling.original_context_length", 262144)
    writer.put("context_length", 262144)
    for name in ("factor", "mscale", "mscale_all_dim", "beta_fast", "beta_slow"):
        block.lose(name, "only alpha counts")
    if base != 1e4 or source.context.value not in (32768, 262144):
        raise StackStops("AssertionError: HunYuan dynamic RoPE scaling assumptions changed")


def _minicpm(writer: Writer) -> None:
    general(writer)
    if isinstance(writer.source.config.get("rope_scaling"), dict):
        two_lists(writer, whole(writer.source.block.head))


_SPECIAL: dict[str, Callable[[Writer], None]] = {
    **dict.fromkeys(LLAMAS, _llama),
    "deepseek2": _deepseek,
    "phi3": _phi3,
    "gemma": gemma,
    "gemma2": gemma,
    "gemma4": gemma4,
    "falcon": _falcon,
    "command-r": _command_r,
    "cohere2": _cohere2,
    "glm4": _glm4,
    "hunyuan-dense": _hunyuan,
    "minicpm": _minicpm,
}
