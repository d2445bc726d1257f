"""The tables of positions that a checkpoint stores: by the claims of its config, else by their names and sizes."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, final

from gnomon.adapters.claims import Claim
from gnomon.adapters.families import claims_in, entry_of
from gnomon.adapters.families.config_reader import LENGTH, ConfigReader, inner, seen
from gnomon.adapters.families.image_rules import pair
from gnomon.adapters.position_names import is_table_name
from gnomon.adapters.subject import MissingEvidence
from gnomon.adapters.tensors import TensorInfo, TensorSource
from gnomon.errors import GnomonError

OF_IMAGES = re.compile(r"vision|visual|image|audio|speech|(^|[._])vit([._]|$)", re.IGNORECASE)
OF_TEXT = re.compile(r"text|(^|[._])(encoder|decoder)\.embed_pos", re.IGNORECASE)
LENGTHS: Final = (*LENGTH, "max_target_positions", "max_source_positions", "max_length", "context_length")


@final
@dataclass(frozen=True)
class Line:
    """Tensors that hold one vector for each position of a text, under every name that they have.

    `key` of config.json says `stated`, from which `rows` of the table follow, and `usable` positions after `offset`
    reserved rows. `claim` is None when the family is not one that gnomon knows.
    """

    infos: tuple[TensorInfo, ...]
    key: str
    stated: int
    usable: int
    offset: int
    claim: Claim | None = None

    @property
    def rows(self) -> int:
        return self.offset + self.usable

    @property
    def stack(self) -> str:
        """ "encoder" or "decoder" in a model that has both."""
        where = self.claim.where if self.claim else "embeddings"
        return where.partition(".")[0] if "." in where else ""


def model_claims(config: Mapping[str, Any], *, vision: bool = False) -> tuple[Claim, ...]:
    """What the family claims of the text model, or of the image model; empty when gnomon does not know it."""
    try:
        return tuple(claims_in(*entry_of(config, vision=vision)))
    except MissingEvidence:
        return ()


def lines(source: TensorSource, config: Mapping[str, Any]) -> tuple[Line, ...]:
    """The tables of text positions; raises GnomonError for a table that fits no length of the config."""
    reader = inner(ConfigReader(config))
    known = model_claims(config)
    if known:
        added = [claim for claim in known if claim.kind in ("learned", "sinusoidal") or _cached(claim, source)]
        return tuple(_claimed(source, claim, reader) for claim in added if not is_grid(claim))
    infos = [info for info in by_name(source) if not OF_IMAGES.search(info.name)]
    grids = () if reader.config is not config else _grid_rows(seen(reader))
    return tuple(_guessed(info, reader) for info in infos if info.shape[-2] not in grids)


def by_name(source: TensorSource) -> Iterator[TensorInfo]:
    """Tensors with a vector for each position by their names, which the field uses."""
    for info in source.infos():
        if is_table_name(info.name) and is_table(info):
            yield info


def named(source: TensorSource, claim: Claim) -> tuple[TensorInfo, ...]:
    """The tensors that hold the table of a claim."""
    return tuple(i for i in source.infos() if is_table(i) and any(re.search(p, i.name) for p in claim.table_names))


def is_table(info: TensorInfo) -> bool:
    """Whether a tensor is a matrix of floats, perhaps with axes of 1 before it."""
    matrix = len(info.shape) >= 2 and all(side == 1 for side in info.shape[:-2])
    return matrix and info.dtype.startswith(("float", "bfloat"))


def is_grid(claim: Claim) -> bool:
    """Whether a table has a row for each patch of an image."""
    return " // " in claim.keys.get("rows", "")


def patch_sizes(reader: ConfigReader) -> tuple[tuple[int, int], tuple[int, int]] | None:
    """The image and the patches in pixels, each (height, width), as the config of an image model says."""
    image, patch = pair(reader.find("image_size").value), pair(reader.find("patch_size").value)
    if image is None or patch is None or image[0] < patch[0] or image[1] < patch[1]:
        return None
    return image, patch


def _cached(claim: Claim, source: TensorSource) -> bool:
    """Whether the angles of a rotation stand in the checkpoint, row by row (RoFormer)."""
    return claim.kind == "rotary" and any(min(info.shape[-2:]) > 1 for info in named(source, claim))


def _grid_rows(reader: ConfigReader) -> tuple[int, ...]:
    sizes = patch_sizes(reader)
    if sizes is None:
        return ()
    patches = (sizes[0][0] // sizes[1][0]) * (sizes[0][1] // sizes[1][1])
    return tuple(range(patches, patches + 9))


def _claimed(source: TensorSource, claim: Claim, reader: ConfigReader) -> Line:
    infos = named(source, claim)
    if claim.kind == "rotary":
        length = reader.find(*LENGTH)
        key, rows, usable, offset = length.key, length.integer, length.integer, 0
    else:
        key, options = claim.keys.get("max_length", "default"), claim.options
        rows, usable, offset = options.get("rows"), options.get("max_length"), options.get("padding_offset", 0)
    stated = _at(reader, key)
    if not rows or not usable or not stated:
        raise GnomonError(f"config.json does not say how many positions the model has; add {reader.named(LENGTH[0])}.")
    for info in infos:
        if info.shape[-2] != rows:
            raise GnomonError(
                f"The table {info.name!r} has {info.shape[-2]} rows, but by {key} of config.json it has {rows}; "
                "correct the config first."
            )
    if not infos and claim.kind == "learned":
        raise GnomonError(
            f"By its config the model has a learned table of {usable} positions, but the checkpoint has no tensor of "
            "the names it goes by; save the model anew with its own library."
        )
    return Line(infos, key, stated, usable, offset, claim)


def _at(reader: ConfigReader, key: str) -> int | None:
    own = key.removeprefix(reader.named(""))
    return reader.find(own).integer


def _guessed(info: TensorInfo, reader: ConfigReader) -> Line:
    rows = info.shape[-2]
    for key in LENGTHS:
        found = reader.find(key)
        if found.integer == rows:
            return Line((info,), found.key, rows, rows, 0)
    raise GnomonError(
        f"gnomon does not know this model type, and the table {info.name!r} of {rows} rows has no length in "
        f"config.json beside it (it looks for {', '.join(LENGTHS)}); use gnomon.extending.tables from Python."
    )
