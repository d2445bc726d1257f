"""Windows of Swin and Swin v2 for another size: tables of biases, or a network that only has to be told."""

from collections.abc import Mapping, Sequence
from typing import Any

from gnomon.adapters.claims import Claim
from gnomon.adapters.families.config_reader import ConfigReader, seen
from gnomon.adapters.tensors import TensorSource
from gnomon.errors import GnomonError
from gnomon.extending.tables.buffers import window_indices
from gnomon.extending.tables.found import named, patch_sizes
from gnomon.extending.tables.grids import Size
from gnomon.extending.tables.options import AUTO, Options
from gnomon.extending.tables.part import Part
from gnomon.extending.tables.resized import Resized, biases


def swin_part(
    source: TensorSource, config: Mapping[str, Any], claims: Sequence[Claim], to: Size, options: Options
) -> Part:
    """The windows of all stages at size `to`. A window must be square, and Swin's no larger than its last map.

    Where that map is smaller the image grows, as the published pairs do (224 pixels and windows of 7, 384 and 12).
    """
    reader = seen(ConfigReader(config))
    old = reader.find("window_size").integer
    if old is None:
        raise GnomonError("config.json does not say the window as one number; give it as window_size.")
    if to[0] != to[1]:
        raise GnomonError(
            f"transformers' Swin has square windows only, got {to[0]} x {to[1]}; for other libraries use "
            "gnomon.extending.tables.window from Python."
        )
    if to[0] == old:
        raise GnomonError(f"The model has windows of {old} x {old} already.")
    if claims[0].kind == "log_cpb":
        return _continuous(source, reader, claims, old, to[0])
    kind = "bicubic" if options.kind == AUTO else options.kind
    tables: dict[str, Resized] = {}
    for info in named(source, claims[0]):
        tables[info.name] = biases(info.shape, (old, old), to, 0, kind)
    tables |= window_indices(source, (old, old), to, prefix=False)
    word = f"The {len(tables)} bias tables of {old} x {old} windows become those of {to[0]} x {to[0]} ({kind})."
    edits: dict[str, Any] = {reader.named("window_size"): to[0]}
    sizes, image = patch_sizes(reader), None
    if sizes and (least := to[0] * sizes[1][0] << (len(claims) - 1)) > min(sizes[0]):
        image = (sizes[0], (least, least))
        edits[reader.named("image_size")] = least
        word += f" Images become {least} x {least} pixels, so that the last stage has room for one window."
    less = (f"Windows of {to[0]} x {to[0]} are smaller than those of {old} x {old}, and see less at once.",)
    return Part(tables, edits, image=image, words=(word,), drawbacks=less if to[0] < old else ())


def _continuous(source: TensorSource, reader: ConfigReader, claims: Sequence[Claim], old: int, new: int) -> Part:
    """Swin v2: the config says which windows the network was trained with, and nothing stored changes."""
    stored = [info.name for info in source.infos() if info.name.endswith(("relative_coords_table", "position_index"))]
    if stored:
        raise GnomonError(
            f"The checkpoint stores {stored[0]!r}, which follows from the window; save the model anew with "
            "transformers 5, which leaves it out."
        )
    windows = [min(claim.options.get("pretrained_window") or claim.options["window"]) for claim in claims]
    edits = {reader.named("window_size"): new, reader.named("pretrained_window_sizes"): windows}
    word = (
        f"Windows of {old} x {old} become {new} x {new}: the network of Swin v2 reads offsets as shares of the windows "
        f"it was trained with ({', '.join(map(str, windows))}), so no tensor changes."
    )
    return Part({}, edits, words=(word,))
