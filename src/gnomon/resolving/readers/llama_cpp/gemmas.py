"""What llama.cpp's converter writes for the Gemma models that it treats apart.

Source: `conversion/gemma.py`, 2026; Gemma 3 is written as any other model.
"""

from gnomon.resolving.readers.llama_cpp.general import NOT_WRITTEN, general, sizes, whole
from gnomon.resolving.readers.llama_cpp.kernel import ONE, UNMOVED
from gnomon.resolving.readers.llama_cpp.writer import Writer
from gnomon.resolving.rules.formulas import WIDEST


def gemma(writer: Writer) -> None:
    """Gemma and Gemma 2: neither base nor scaling is written."""
    sizes(writer)
    for name in writer.source.block.values:
        writer.block.lose(name, f"{NOT_WRITTEN} for {writer.source.architecture}")


def gemma4(writer: Writer) -> None:
    """Two widths and two bases; pairs that do not turn are marked by a list of divisors."""
    general(writer)
    source, block = writer.source, writer.block
    head = whole(source.block.head)
    writer.put("rope.dimension_count", head, source.block.head.key)
    if source.sliding is not None:
        writer.copy("attention.key_length_swa", source.sliding.head)
        writer.copy("rope.dimension_count_swa", source.sliding.head)
    if source.block.values.get("rope_type") == "proportional" and head <= WIDEST:
        turned = int(head * block.number("share of a head", "partial_rotary_factor", default=0.25) / 2)
        block.lose("factor", NOT_WRITTEN)
        writer.factors[ONE] = tuple(1.0 if pair < turned else UNMOVED for pair in range(head // 2))
