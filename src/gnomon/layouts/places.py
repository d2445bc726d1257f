"""Every tensor of a checkpoint that has to move with the rotated lanes, attention by attention, with its rows."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import prod
from typing import final

from gnomon.adapters.tensors import TensorInfo
from gnomon.doctor.evidence.query_key_rows import Heads
from gnomon.errors import GnomonError
from gnomon.layouts.fused import fused_starts
from gnomon.layouts.geometry import Geometry
from gnomon.layouts.lanes import Lanes
from gnomon.layouts.roles import Name, attentions_of

SIDES = {"query": ("query", "fused"), "key": ("key", "fused")}  #: the roles that make each side


@final
@dataclass(frozen=True)
class Attention:
    """One attention: its tensors, the rows of those that move, and the shapes of all in the checkpoint, by name."""

    path: str
    names: tuple[Name, ...]
    lanes: Mapping[str, Lanes]
    shapes: Mapping[str, tuple[int, ...]]

    def of(self, *roles: str) -> tuple[Name, ...]:
        """Its tensors of these roles."""
        return tuple(name for name in self.names if name.role in roles)


def places_of(infos: Iterable[TensorInfo], geometry: Geometry, *, partly: bool = False) -> tuple[Attention, ...]:
    """The attentions of a checkpoint; `partly` for an adapter, which need not have queries and keys of every layer.

    Raises GnomonError with one sentence where a tensor does not fit the heads, or where one that must be there is not.
    """
    shapes = {info.name: info.shape for info in infos}
    found = [
        Attention(path, names, _lanes(names, shapes, geometry), shapes)
        for path, names in attentions_of(tuple(shapes)).items()
        if any(name.moves for name in names)
    ]
    if partly:
        if not found:
            raise GnomonError("No tensor of this adapter lies on rotated lanes, so it fits models of either layout.")
        return tuple(found)
    for attention in found:
        _require_whole(attention, geometry)
    if len(found) < max(len(geometry.layers), 1):
        raise GnomonError(
            f"The config states {len(geometry.layers)} layers, but queries and keys by a name the field uses were "
            f"found in {len(found)}; nothing is written, for the others would stay as they are."
        )
    return tuple(found)


def _require_whole(attention: Attention, geometry: Geometry) -> None:
    modules = {role: {name.module for name in attention.of(*roles)} for role, roles in SIDES.items()}
    if any(len(found) != 1 for found in modules.values()):
        raise GnomonError(f"{attention.path} needs one projection of queries and one of keys, but has {modules}.")
    if not attention.of("fused", "value") and not geometry.latent:
        raise GnomonError(f"{attention.path} has no projection of values: its keys may serve for them, and stay.")


def _lanes(names: tuple[Name, ...], shapes: Mapping[str, tuple[int, ...]], geometry: Geometry) -> dict[str, Lanes]:
    found = {}
    for name in names:
        if name.moves:
            shape, other = shapes[name.whole], name.whole.replace("lora_B", "lora_A")
            if not shape or 0 in shape:
                raise GnomonError(f"The tensor {name.whole!r} of shape {shape} has no rows.")
            if name.part.endswith("weight") and other not in shapes:
                raise GnomonError(f"The low-rank update {name.whole!r} has no {other!r} beside it.")
            found[name.whole] = (_of_norm if "norm" in name.role else _of_rows)(name, shape, geometry)
    return found


def _of_norm(name: Name, shape: tuple[int, ...], geometry: Geometry) -> Lanes:
    """Weights of one head, of each head, or of the whole projection."""
    head, count = geometry.head(name.layer), prod(shape)
    if count % head.width or shape[-1] % head.width:
        raise GnomonError(f"The norm {name.whole!r} of shape {shape} does not fit heads of {head.width}.")
    return _one_sided(name, count, head)


def _of_rows(name: Name, shape: tuple[int, ...], geometry: Geometry) -> Lanes:
    head, rows = geometry.head(name.layer), shape[0]
    if geometry.latent:
        return _of_latent(name, rows, geometry)
    if name.role == "fused":
        starts = fused_starts(geometry, rows, head.width)
        return Lanes(rows, starts.query, starts.key, head.width, 0, head.rotated)
    heads = geometry.heads
    count = rows // head.width
    fits = rows % head.width == 0 and (
        count == heads if name.role == "query" else 0 < count <= heads and heads % count == 0
    )
    if not fits:
        raise GnomonError(f"The {rows} rows of {name.whole!r} do not fit {heads} heads of {head.width}.")
    return _one_sided(name, rows, head)


def _one_sided(name: Name, rows: int, head: Heads) -> Lanes:
    """Heads one after the other, of queries alone or of keys alone."""
    starts = tuple(range(0, rows, head.width))
    query, key = (starts, ()) if name.role.startswith("query") else ((), starts)
    return Lanes(rows, query, key, head.width, 0, head.rotated)


def _of_latent(name: Name, rows: int, geometry: Geometry) -> Lanes:
    """DeepSeek: the last lanes of each query head turn, and one turned part of a key serves all heads."""
    turned, heads = geometry.head(name.layer).rotated, geometry.heads
    if name.role == "key" and name.module.lower() == "kv_a_proj_with_mqa" and rows > turned:
        return Lanes(rows, (), (0,), rows, rows - turned, turned)
    if name.role == "query" and rows % heads == 0 and rows // heads >= turned:
        width = rows // heads
        return Lanes(rows, tuple(range(0, rows, width)), (), width, width - turned, turned)
    raise GnomonError(f"The {rows} rows of {name.whole!r} do not fit latent attention with {heads} heads.")
