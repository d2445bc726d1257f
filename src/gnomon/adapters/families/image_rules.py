"""How image models declare positions: tables over patches, rotations on a grid, biases in windows."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, final

from gnomon.adapters.claims import Claim
from gnomon.adapters.families.config_reader import WIDTH, ConfigReader, Found
from gnomon.adapters.families.rules import ATTENTION, Rule, claim
from gnomon.adapters.plausible import LARGEST_SIZE, MOST_HEADS, MOST_LAYERS, WIDEST_HEAD

WIDE = ("embed_dim", "hidden_size")
HEADS = ("num_heads", "num_attention_heads")


def pair(value: Any) -> tuple[int, int] | None:
    """(height, width) from one number or from two; None when they are no sizes.

    >>> pair(224), pair([14, 16]), pair("large")
    ((224, 224), (14, 16), None)
    """
    both = tuple(value) if isinstance(value, list | tuple) else (value, value)
    sizes = [side for side in both if type(side) is int and 0 < side <= LARGEST_SIZE]
    return (sizes[0], sizes[1]) if len(both) == len(sizes) == 2 else None


def patch_grid(config: ConfigReader) -> Found:
    """How many patches an image has along (height, width), as a list; None when the config does not say."""
    image, patch = config.find("image_size"), config.find("patch_size")
    sizes, sides = pair(image.value), pair(patch.value)
    key = f"{image.key} // {patch.key}"
    if sizes is None or sides is None or any(size < side for size, side in zip(sizes, sides, strict=True)):
        return Found(None, key)
    return Found([size // side for size, side in zip(sizes, sides, strict=True)], key)


@final
@dataclass(frozen=True)
class PatchTable(Rule):
    """A trained vector for the class token, at position 0, and then for each patch, row by row (ViT)."""

    table: str
    prefix: int = 1

    def claims(self, config: ConfigReader) -> Iterator[Claim]:
        grid, width = patch_grid(config), config.find(*WIDTH)
        found = {"dim": width} if width.integer else {}
        if grid.value:
            rows = Found(grid.value[0] * grid.value[1] + self.prefix, grid.key)
            found |= {"max_length": rows, "rows": rows, "padding_offset": Found(0, "default")}
        yield claim("learned", "embeddings", found, (self.table,))


@final
@dataclass(frozen=True)
class GridRotation(Rule):
    """Half of the pairs of a head turn by the row of a patch, half by its column.

    `coordinates` is AxialRotary's option; other ones than "index" lay the patches of the stated image over a grid.
    """

    base: float
    coordinates: Literal["index", "centres"] = "index"

    def claims(self, config: ConfigReader) -> Iterator[Claim]:
        width, heads = config.find(*WIDE), config.find(*HEADS)
        base = config.find("rope_parameters.rope_theta", "rope_theta", default=self.base)
        found = {
            "coordinates": Found(self.coordinates, "default"),
            "frequencies": Found({"kind": "plain", "base": base.value}, base.key),
        }
        if width.integer and heads.integer and 0 < width.integer // heads.integer <= WIDEST_HEAD:
            found["head_dim"] = Found(width.integer // heads.integer, f"{width.key} // {heads.key}")
        if self.coordinates != "index" and (grid := patch_grid(config)).value:
            found["grid"] = grid
        yield claim("axial_rotary", ATTENTION, found)


@final
@dataclass(frozen=True)
class ImageWindow(Rule):
    """A bias in each layer over one window, the whole image, with rows of its own for a class token (BEiT)."""

    table: str

    def claims(self, config: ConfigReader) -> Iterator[Claim]:
        heads, grid = config.find(*HEADS), patch_grid(config)
        found = {"prefix": Found(True, "default")}
        if heads.up_to(MOST_HEADS):
            found["num_heads"] = heads
        if grid.value:
            found["window"] = grid
        yield claim("window_bias", ATTENTION, found, (self.table,))


@final
@dataclass(frozen=True)
class StageWindows(Rule):
    """Biases in small windows, with another number of heads in each stage (Swin).

    Swin v2 (`kind="log_cpb"`) has no window larger than the map of a stage, and may have been trained with another.
    """

    kind: Literal["window_bias", "log_cpb"]
    table: str

    def claims(self, config: ConfigReader) -> Iterator[Claim]:
        depths, heads = config.find("depths"), config.find("num_heads")
        first = 0
        for stage, depth in enumerate(_counts(depths.value, MOST_LAYERS)):
            layers = ",".join(map(str, range(first, first + depth)))
            first += depth
            found = {"window": self._window(config, stage)}
            of_stages = _counts(heads.value, MOST_HEADS)
            if stage < len(of_stages):
                found["num_heads"] = Found(of_stages[stage], f"{heads.key}[{stage}]")
            if self.kind == "log_cpb" and (trained := _trained(config, stage)).value:
                found["pretrained_window"] = trained
            made = {name: item for name, item in found.items() if item.value is not None}
            yield claim(self.kind, f"layers.{layers}.attention", made, (self.table,))

    def _window(self, config: ConfigReader, stage: int) -> Found:
        window, grid = config.find("window_size"), patch_grid(config)
        sides = pair(window.value)
        if sides is None:
            return Found(None, window.key)
        if self.kind == "log_cpb" and grid.value:
            sides = (min(sides[0], grid.value[0] >> stage), min(sides[1], grid.value[1] >> stage))
        return Found(list(sides) if min(sides) > 0 else None, window.key)


def _trained(config: ConfigReader, stage: int) -> Found:
    """The window that a stage was trained with; 0 says it is the same one."""
    sizes = config.find("pretrained_window_sizes")
    listed = sizes.value if isinstance(sizes.value, list | tuple) else ()
    sides = pair(listed[stage]) if stage < len(listed) else None
    return Found(list(sides) if sides else None, f"{sizes.key}[{stage}]")


def _counts(value: Any, most: int) -> list[int]:
    """The counts of a list, up to the first that is none, and no more of them than a model has layers."""
    counts: list[int] = []
    for count in value if isinstance(value, list | tuple) else ():
        if type(count) is not int or not 0 < count <= most or len(counts) == MOST_LAYERS:
            break
        counts.append(count)
    return counts
