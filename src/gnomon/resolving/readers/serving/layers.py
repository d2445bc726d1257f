"""From the blocks of transformers' config classes to the layers of a reading: what such serving stacks have in common.

A stack turns one `Layer` at a time into a `Turning`. Each layer has a record of its own of the keys that were taken; a
key counts as ignored where no layer took it.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from gnomon.resolving.given import Given
from gnomon.resolving.readers.serving.numbers import arithmetic, number, width
from gnomon.resolving.readers.transformers5 import Block, Standard
from gnomon.resolving.reading import Ignored, LayerReading, Layout, Reading, Used
from gnomon.resolving.rules.angles import Always, Angles, Schedule, Temperature
from gnomon.resolving.rules.keys import Keys
from gnomon.resolving.rules.scaling import ORIGINAL, Scaled
from gnomon.resolving.stack import Stack, Version
from gnomon.resolving.stopping import NoSuchModel

COUNTED = frozenset({"gptj", "codegen"})  #: rotated width as a count of columns
FARTHEST = 2**31  #: every schedule is tried at 1 and at this length, so that a later look at it cannot overflow
NOT_READ = "not read"


@final
@dataclass(frozen=True, eq=False)
class Layer:
    """One kind of layer while a stack reads it: its block, and views of the file that remember what is taken.

    `file` is the whole config, `text` the part of it that describes the text model, `keys` the values of the block.
    """

    standard: Standard
    block: Block
    file: Keys
    text: Keys
    keys: Keys

    @property
    def model_type(self) -> str:
        return self.standard.model_type

    @property
    def head_dim(self) -> int:
        return width(self.block.head_dim, "the width of a head")

    @property
    def longest(self) -> float | None:
        """max_position_embeddings, taken."""
        return number(self.file, "longest length", self.standard.longest)

    def over(self, dim: int, *, base: float, original: float | None = None, served: float | None = None) -> Scaled:
        """What `scaling` lays a block over."""
        return Scaled(base, dim, self.longest, original, served)

    def original(self, default: float | None = None) -> Any:
        """The original length in the block."""
        return self.keys.number("original length", ORIGINAL, default=default)


@final
@dataclass(frozen=True, eq=False)
class Turning:
    """What a stack makes of one layer; `rule` in the words of `LayerReading`. None: as transformers does."""

    rule: str
    base: float | None
    dim: int
    schedule: Schedule
    softmax: float | None = None
    temperature: Temperature | None = None
    layout: Layout | None = None
    permuted: str = ""
    notes: tuple[str, ...] = ()


@final
@dataclass(frozen=True, eq=False)
class Layers:
    """All layers of a reading, and the keys that none of them took."""

    readings: tuple[LayerReading, ...]
    used: tuple[Used, ...]
    ignored: tuple[Ignored, ...]

    def reading(self, stack: Stack, version: Version, *, cap: int | None = None, notes: Iterable[str] = ()) -> Reading:
        """What the stack makes of the file."""
        return Reading(
            stack.name,
            version.name,
            stack.sure,
            layers=self.readings,
            cap=cap,
            used=self.used,
            ignored=self.ignored,
            notes=tuple(notes),
        )


def config_of(given: Given, title: str) -> Mapping[str, Any]:
    """The config; raises NoSuchModel for a GGUF file."""
    if given.config is None:
        raise NoSuchModel(f"{title} reads a config.json here; what it makes of a GGUF file was not traced")
    return given.config


def layers(
    config: Mapping[str, Any],
    standard: Standard,
    turn: Callable[[Layer], Turning],
    shared: Keys,
) -> Layers:
    """Each block read by `turn`; `shared` holds what was taken of the file besides (the cap)."""
    readings, records = [], [shared]
    for block in standard.blocks:
        file = Keys(config)
        for item in block.used:
            file.note(item.what, item.value, item.key)
        file.note("width that turns by a share", block.turned.value, block.turned.key)
        layer = Layer(standard, block, file, view_at(file, standard.part), block.keys(file))
        with arithmetic():
            reading = _reading(layer, turn(layer) if block.turns else still(layer))
            for length in (1, FARTHEST):
                reading.logit_factor(length, length)
        readings.append(reading)
        records.append(file)
    return Layers(tuple(readings), shared.used(), ignored_by_all(records))


def still(layer: Layer) -> Turning:
    """A layer that does not turn; Llama 4 multiplies its queries by a factor that grows with the position."""
    if layer.block.temperature is not None:
        for name in ("attn_temperature_tuning", "attn_scale", "floor_scale"):
            layer.text.take("temperature", name)
    return Turning("none", None, 0, Always(Angles(np.zeros(0, dtype=np.float64))), temperature=layer.block.temperature)


def ignored_by_all(records: Sequence[Keys]) -> tuple[Ignored, ...]:
    """The keys that no record took, each with the first reason that says more than "not read"."""
    lists = [record.ignored() for record in records]
    common = set.intersection(*({item.key for item in items} for items in lists))
    found: dict[str, Ignored] = {}
    for item in (item for items in lists for item in items if item.key in common):
        if item.key not in found or (found[item.key].why == NOT_READ and item.why != NOT_READ):
            found[item.key] = item
    return tuple(found.values())


def rule_of(block: Block) -> str:
    """The kind of scaling of a block; empty where it is no text."""
    return block.rule if isinstance(block.rule, str) else ""


def counted_width(layer: Layer) -> int | None:
    """The rotated width of the model types that state it as a count of columns; None for the others."""
    if layer.model_type not in COUNTED:
        return None
    layer.file.note("rotated width", layer.block.rotary_dim.value, layer.block.rotary_dim.key)
    return width(layer.block.rotary_dim, "the rotated width")


def fraction(layer: Layer, default: float = 1.0) -> float:
    """The rotated share of a head in the block."""
    share: float = layer.keys.number("rotated share", "partial_rotary_factor", default=default)
    return share


def _reading(layer: Layer, turning: Turning) -> LayerReading:
    block = layer.block
    return LayerReading(
        kind=block.kind,
        head_dim=layer.head_dim,
        rotary_dim=turning.dim,
        base=turning.base,
        rule=turning.rule,
        layout=turning.layout or block.layout,
        schedule=turning.schedule,
        softmax=block.softmax if turning.softmax is None else turning.softmax,
        temperature=turning.temperature,
        permuted=turning.permuted,
        used=layer.file.used(),
        notes=(*block.notes, *turning.notes),
        layers=block.layers,
    )


def view_at(file: Keys, path: str) -> Keys:
    """The view of the mapping at a dotted path that may end with a dot; the file itself for an empty one."""
    part = file
    for step in path.split("."):
        part = part.part(step) if step else part
    return part
