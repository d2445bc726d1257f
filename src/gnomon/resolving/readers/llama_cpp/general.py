"""What llama.cpp's converter writes for any model: sizes, kind of scaling with its numbers, base.

Source: `TextModel.set_gguf_parameters` in `conversion/base.py`, 2026.
"""

import math
from typing import Any

from gnomon.adapters.families.config_reader import HEADS, LAYERS, WIDTH, Found
from gnomon.resolving.readers.llama_cpp.writer import Writer
from gnomon.resolving.rules.numbers import SIZE, between, required
from gnomon.resolving.stopping import StackStops

ORIGINAL = "original_max_position_embeddings"
#: converters that also write a list of divisors for llama3
LLAMAS = frozenset({"llama", "llama4", "mistral3", "smollm3", "granite"})
NOT_WRITTEN = "the converter does not write it"


def general(writer: Writer) -> None:
    """Everything."""
    sizes(writer)
    _scaling(writer)
    if (sections := writer.source.block.found("mrope_section")).value is not None:
        writer.copy("rope.dimension_sections", sections)
    writer.copy("rope.freq_base", writer.source.block.found("rope_theta"))
    if writer.source.sliding is not None:
        writer.copy("rope.freq_base_swa", writer.source.sliding.found("rope_theta"))


def sizes(writer: Writer) -> None:
    """Lengths and widths, without rotation."""
    source = writer.source
    writer.copy("context_length", source.context)
    writer.copy("block_count", source.find(*LAYERS))
    writer.copy("embedding_length", source.find(*WIDTH))
    writer.copy("attention.head_count", source.find(*HEADS))
    writer.copy("attention.key_length", source.block.head)
    writer.copy("attention.sliding_window", source.find("sliding_window"))


def _scaling(writer: Writer) -> None:
    """Kind, factor and length; whatever else stands in the block is lost."""
    block, source = writer.block, writer.source
    kind = block.text("kind", "rope_type")
    factor = source.block.found("factor")
    if kind in ("linear", "yarn") and factor.value is not None:
        writer.put("rope.scaling.type", kind, source.block.found("rope_type").key)
        writer.copy("rope.scaling.factor", factor)
    if kind == "yarn" and factor.value is not None:
        _yarn(writer)
    elif kind in ("su", "longrope"):
        writer.put("rope.scaling.type", "longrope", source.block.found("rope_type").key)
    elif kind == "dynamic" and source.architecture != "hunyuan-dense":
        block.lose("rope_type", "dynamic is passed over in silence")
        block.lose("factor", "dynamic is passed over in silence")
        writer.notes.append("the converter writes nothing for dynamic: the file has plain frequencies")
    elif kind == "llama3" and source.architecture not in LLAMAS:
        writer.notes.append(f"the converter of {source.architecture} makes no divisors for llama3: plain frequencies")
    elif kind not in (None, "linear", "default", "dynamic", "llama3"):
        writer.notes.append(f"Unknown RoPE type: {kind}")


def _yarn(writer: Writer) -> None:
    held, block = writer.source.block, writer.block
    writer.needed("rope.scaling.original_context_length", held.found(ORIGINAL), ORIGINAL)
    writer.copy("rope.scaling.yarn_ext_factor", held.found("extrapolation_factor"))
    attention = held.found("attention_factor")
    writer.copy(
        "rope.scaling.yarn_attn_factor", attention if attention.value is not None else held.found("attn_factor")
    )
    writer.copy("rope.scaling.yarn_beta_fast", held.found("beta_fast"))
    writer.copy("rope.scaling.yarn_beta_slow", held.found("beta_slow"))
    block.lose("truncate", f"{NOT_WRITTEN}; the ends of the ramp are always rounded")
    block.lose("mscale", NOT_WRITTEN)
    if writer.source.architecture not in ("deepseek2", "mistral3"):
        block.lose("mscale_all_dim", NOT_WRITTEN)


def whole(found: Found) -> int:
    """A size; raises StackStops for anything else."""
    value: Any = found.value
    if not between(value, 0, SIZE) or value != int(value):
        raise StackStops(f"{found.key} is {value!r}, which is no size")
    return int(value)


def number(found: Found) -> float:
    """A finite number; raises StackStops for anything else."""
    return required(found.value, found.key, low=-math.inf, high=math.inf)
