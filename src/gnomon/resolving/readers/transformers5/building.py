"""Blocks out of gathered values: widths, scales, and the layers that do not turn; the same in versions 4 and 5."""

import re
from collections.abc import Iterator
from dataclasses import replace

from gnomon.adapters.families.config_reader import LAYERS, ConfigReader, Found
from gnomon.adapters.families.rules import KindsWithoutRotation, LayersWithoutRotation
from gnomon.adapters.plausible import MOST_LAYERS
from gnomon.resolving.readers.transformers5.classes import ModelClass
from gnomon.resolving.readers.transformers5.gathering import Gathering
from gnomon.resolving.readers.transformers5.scales import softmax_scale, temperature
from gnomon.resolving.readers.transformers5.standard import Block
from gnomon.resolving.reading import ALL, DEFAULT, STILL, TURNING, Used
from gnomon.resolving.stopping import NoSuchModel, StackStops

LATENT = ("deepseek_v2", "deepseek_v3")


def turned_width(model: ModelClass, reader: ConfigReader, kind: str) -> Found:
    """The width that the rotated share is taken of; raises NoSuchModel where the file does not say it."""
    turned = model.rotation.head_width(reader, None if kind == ALL else kind)
    if model.name == "deepseek_v2":  # the class replaces head_dim by it
        turned = reader.find("qk_rope_head_dim", default=64)
    if not turned.integer:
        raise NoSuchModel("the file does not say how wide a head is; the class's own number was not traced")
    return turned


def made(model: ModelClass, reader: ConfigReader, kind: str, block: Gathering, rotary: Found) -> Block:
    """The block of one kind of layer."""
    turned = turned_width(model, reader, kind)
    head = _whole_head(model, reader, turned)
    scale, used = softmax_scale(model.name, reader, block.values, head.value)
    return Block(
        kind,
        head,
        turned,
        rotary,
        model.rotation.layout,
        block.values,
        block.origins,
        softmax=scale,
        temperature=temperature(model.name, reader, block.values, turns=True),
        used=tuple(Used(item.what, item.value, block.origins.get(item.key, item.key)) for item in used),
    )


def spread(model: ModelClass, reader: ConfigReader, found: list[Block]) -> Iterator[Block]:
    """The blocks, and those of layers that do not turn."""
    still = next((rule for rule in model.rules if isinstance(rule, KindsWithoutRotation)), None)
    listed = next((rule for rule in model.rules if isinstance(rule, LayersWithoutRotation)), None)
    if still is not None:
        yield from _by_types(model, reader, found[0], still.layer_kind)
    elif listed is not None:
        yield from _by_list(model, reader, found[0], listed)
    else:
        yield from found


def _by_types(model: ModelClass, reader: ConfigReader, block: Block, still: str) -> Iterator[Block]:
    """One kind of layer turns by the block, the other not at all."""
    listed = reader.names("layer_types") or (*model.rotation.kinds, still)
    for kind in listed:
        if kind == still:
            key = "layer_types" if "layer_types" in reader.config else DEFAULT
            yield _without(model, reader, block, kind, key, _of_kind(reader, kind))
        else:
            yield replace(block, kind=kind, layers=_of_kind(reader, kind))


def _of_kind(reader: ConfigReader, kind: str) -> tuple[int, ...] | None:
    listed = reader.config.get("layer_types")
    return tuple(i for i, each in enumerate(listed) if each == kind) if isinstance(listed, list | tuple) else None


def _by_list(model: ModelClass, reader: ConfigReader, block: Block, rule: LayersWithoutRotation) -> Iterator[Block]:
    claim = next(iter(rule.claims(reader)), None)
    if claim is None:
        yield block
        return
    still = tuple(int(number) for number in re.findall(r"\d+", claim.where))
    count = _count(reader, rule)
    turns = None if count is None else tuple(layer for layer in range(count) if layer not in still)
    if turns is None or turns:
        yield replace(block, kind=TURNING, layers=turns)
    yield _without(model, reader, block, STILL, claim.keys["layers"], still if turns is not None else None)


def _count(reader: ConfigReader, rule: LayersWithoutRotation) -> int | None:
    """How many layers there are, by the file: as stated, else as many as the list has."""
    stated, listed = reader.find(*LAYERS).up_to(MOST_LAYERS), reader.config.get(rule.listed)
    return stated or (len(listed) if isinstance(listed, list | tuple) and listed else None)


def _without(
    model: ModelClass, reader: ConfigReader, block: Block, kind: str, key: str, layers: tuple[int, ...] | None
) -> Block:
    """A kind of layer that does not turn."""
    scale, used = softmax_scale(model.name, reader, block.values, block.head_dim.value)
    return Block(
        kind,
        block.head_dim,
        block.turned,
        Found(0, key),
        block.layout,
        softmax=scale,
        temperature=temperature(model.name, reader, block.values, turns=False),
        used=(*used, Used("layers without rotation", kind, key)),
        layers=layers,
    )


def _whole_head(model: ModelClass, reader: ConfigReader, turned: Found) -> Found:
    """The width that the softmax scale is made of: with latent attention, the part that turns and the one that not."""
    if model.name not in LATENT:
        return turned
    rest = reader.find("qk_nope_head_dim", default=128)
    if not rest.integer:
        raise StackStops(f"{rest.key} is {rest.value!r}, which is no width")
    return Found(rest.integer + turned.value, f"{rest.key} + {turned.key}")
