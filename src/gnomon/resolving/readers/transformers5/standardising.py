"""A raw config as the classes of transformers 5.24 hold it once built, and what their modules take from elsewhere."""

from collections.abc import Iterator, Mapping
from typing import Any

from gnomon.adapters.families.config_reader import ConfigReader, Found
from gnomon.resolving.readers.transformers5.building import made, spread, turned_width
from gnomon.resolving.readers.transformers5.classes import DERIVED_HEAD, HEADLESS, ModelClass, alpha_rules, class_of
from gnomon.resolving.readers.transformers5.gathering import ORIGINAL, PARTIAL, Gathering, gathered
from gnomon.resolving.readers.transformers5.standard import Block, Standard
from gnomon.resolving.reading import DEFAULT
from gnomon.resolving.rules.numbers import SHARE, required
from gnomon.resolving.stopping import StackStops


def standardised(config: Mapping[str, Any]) -> Standard:
    """The rotary block of each kind of layer, with the key that each value came from.

    Kinds: `reading.ALL`, or layer types where the class keeps a block for each or some do not turn ("full_attention",
    "sliding_attention": Gemma 3 and 4, ModernBERT, Cohere 2), or `reading.TURNING` and `reading.STILL` where a list
    says which layers do not turn (SmolLM3, Llama 4).

    A model type whose code lies on the hub (internlm2, minicpm, kimi_k2) is read as the class that it resembles, with
    a note. Raises NoSuchModel for models without rotation and for classes that were not compared with this reader,
    StackStops where building the class fails.

    >>> block = standardised({"model_type": "gpt_neox", "hidden_size": 64, "num_attention_heads": 2}).blocks[0]
    >>> block.rotary_dim.value, block.values
    (8, {'rope_theta': 10000.0, 'partial_rotary_factor': 0.25, 'rope_type': 'default'})
    """
    model, reader = class_of(config)
    try:
        blocks = tuple(_blocks(model, reader))
    except (ArithmeticError, ValueError) as error:
        raise StackStops(f"the numbers of the file cannot be computed with ({error})") from error
    original = reader.find(ORIGINAL)
    return Standard(model.name, blocks, model.longest(reader), original, reader.named(""), model.notes)


def _blocks(model: ModelClass, reader: ConfigReader) -> Iterator[Block]:
    found = [_block(model, reader, kind, block) for kind, block in gathered(model, reader)]
    yield from spread(model, reader, found)


def _block(model: ModelClass, reader: ConfigReader, kind: str, block: Gathering) -> Block:
    turned = turned_width(model, reader, kind)
    _stops_on_head(model, reader, block.values)
    rotary = _rotated(model, reader, block, turned.value)
    _stops_on_sections(model, block.values, rotary.value)
    _stops_on_lists(model, block.values, turned.value)
    return made(model, reader, kind, block, rotary)


def _stops_on_head(model: ModelClass, reader: ConfigReader, block: Mapping[str, Any]) -> None:
    """Raises StackStops for a head_dim, or the lack of one, that the class or its module ends on."""
    given = reader.config.get("head_dim")
    if given is None and block.get("rope_type") in HEADLESS.get(model.name, ()):
        raise StackStops(f"TypeError: {model.name} leaves head_dim null where the file has none")
    if "head_dim" in reader.config and model.name in DERIVED_HEAD:
        raise StackStops(f"AttributeError: {model.name} works head_dim out, the file must not have it")
    if given is not None and model.name == "deepseek_v3" and given != reader.find("qk_rope_head_dim", default=64).value:
        raise StackStops(f"RuntimeError: head_dim {given!r} takes the place of qk_rope_head_dim and does not fit")


def _stops_on_sections(model: ModelClass, block: Mapping[str, Any], rotary_dim: int) -> None:
    """Raises StackStops for shares of time, height and width that do not make up the pairs."""
    sections = model.rotation.sections
    if sections is None or sections.arrangement != "chunked":
        return
    sizes = block.get("mrope_section", sections.default)
    if isinstance(sizes, list | tuple) and all(type(size) is int for size in sizes) and sum(sizes) != rotary_dim // 2:
        raise StackStops(f"RuntimeError: mrope_section {list(sizes)} does not make {rotary_dim // 2} pairs")


def _stops_on_lists(model: ModelClass, block: Mapping[str, Any], turned: int) -> None:
    """Raises StackStops for lists of LongRoPE that Phi-3's class refuses, in use or not."""
    share = block.get(PARTIAL)
    if model.name != "phi3" or not isinstance(share, int | float):
        return
    for name in ("short_factor", "long_factor"):
        held = block.get(name)
        if held is not None and (not isinstance(held, list) or len(held) != int(turned * share) // 2):
            raise StackStops(f"ValueError: {name} is no list of {int(turned * share) // 2} numbers")


def _rotated(model: ModelClass, reader: ConfigReader, block: Gathering, turned: int) -> Found:
    """By the class's own rule where nothing scales; scaled frequencies take the share in the block, else all."""
    kind = block.values["rope_type"]
    if kind == "proportional" or alpha_rules(model.name, block.values):
        return Found(turned, DEFAULT)
    if kind == "default":
        held = {name: Found(value, block.origins[name]) for name, value in block.values.items()}
        found = model.rotation.rotated.width(reader, held, turned)
    else:
        share = block.values.get(PARTIAL, 1.0)
        required(share, block.origins.get(PARTIAL, PARTIAL), low=-SHARE, high=SHARE)
        found = Found(int(turned * share), block.origins.get(PARTIAL, DEFAULT))
    if type(found.value) is not int or found.value <= 0:
        raise StackStops(f"{found.key} makes a rotated width of {found.value!r}")
    if found.value % 2 and found.value > 4 and found.value == turned:
        raise StackStops(f"RoPE needs an even width, and {found.value} columns turn")
    return found
