"""Where queries and keys lie in a projection that makes queries, keys and values at once."""

from dataclasses import dataclass
from typing import final

from gnomon.errors import GnomonError
from gnomon.layouts.geometry import Geometry

PER_HEAD = ("gpt_neox", "gpt_neox_japanese", "persimmon")
CODEGEN_PARTS = 4  #: CodeGen lays its rows out for four devices


@final
@dataclass(frozen=True)
class Starts:
    """The first row of each query head and of each key head."""

    query: tuple[int, ...]
    key: tuple[int, ...]


def fused_starts(geometry: Geometry, rows: int, width: int) -> Starts:
    """The heads of a fused projection of so many rows; raises GnomonError where they do not come out.

    Queries, then keys, then values (Phi-3, ModernBERT); or all three of a head in turn (GPT-NeoX, Persimmon, old
    Falcons); or the queries of a group with their key and value (Falcon); or as CodeGen has it.
    """
    heads = geometry.heads
    config = geometry.config.config
    if geometry.model_type == "codegen":
        starts = _codegen(heads, width)
        expected = 3 * heads * width
    elif geometry.model_type == "falcon" and config.get("new_decoder_architecture") is True:
        groups = geometry.config.find("num_kv_heads", default=heads).integer or heads
        starts, expected = _grouped(heads, groups, width), (heads + 2 * groups) * width
    elif geometry.model_type == "falcon" and config.get("multi_query", True) is not False:
        starts, expected = _concatenated(heads, 1, width), (heads + 2) * width
    elif geometry.model_type in PER_HEAD or geometry.model_type == "falcon":
        starts, expected = _grouped(heads, heads, width), 3 * heads * width
    else:
        keys = (rows // width - heads) // 2
        starts, expected = _concatenated(heads, keys, width), (heads + 2 * keys) * width
    if rows != expected or not starts.key or heads % len(starts.key):
        raise GnomonError(f"The {rows} rows of a fused projection are not {heads} heads of {width} with keys, values.")
    return starts


def _concatenated(heads: int, keys: int, width: int) -> Starts:
    whole = heads * width
    return Starts(tuple(range(0, whole, width)), tuple(range(whole, whole + keys * width, width)))


def _grouped(heads: int, groups: int, width: int) -> Starts:
    """Each group: its queries, one key, one value."""
    each = heads // groups
    bases = [group * (each + 2) * width for group in range(groups)]
    query = tuple(base + head * width for base in bases for head in range(each))
    return Starts(query, tuple(base + each * width for base in bases))


def _codegen(heads: int, width: int) -> Starts:
    """Four parts, each with its queries, its values and its keys."""
    if heads % CODEGEN_PARTS:
        raise GnomonError(f"The {heads} heads of a CodeGen model must be a multiple of {CODEGEN_PARTS}.")
    each = heads // CODEGEN_PARTS * width
    bases = [part * 3 * each for part in range(CODEGEN_PARTS)]
    query = tuple(base + lane for base in bases for lane in range(0, each, width))
    return Starts(query, tuple(start + 2 * each for start in query))
