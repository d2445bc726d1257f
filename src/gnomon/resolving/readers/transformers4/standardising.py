"""A raw config as the classes of transformers 4.43 to 4.56 hold it, in the form of `transformers5.Standard`.

Read in modeling_rope_utils.py and configuration files of those versions: a base and a block of scaling at the top, no
`rope_parameters`, no block for each layer type but Gemma 3's local base. Every kind of scaling, the plain one too,
takes the rotated share that the config has.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from gnomon.adapters.families.config_reader import ConfigReader, Found
from gnomon.adapters.families.rotary_rule import Fraction
from gnomon.resolving.readers.transformers5.building import made, spread, turned_width
from gnomon.resolving.readers.transformers5.classes import KIND_NAMES, PLAIN, ModelClass, class_of
from gnomon.resolving.readers.transformers5.gathering import OLD, ORIGINAL, PARTIAL, Gathering, first, mapping, share_of
from gnomon.resolving.readers.transformers5.standard import Block, Standard
from gnomon.resolving.reading import ALL, DEFAULT
from gnomon.resolving.rules.numbers import SHARE, required
from gnomon.resolving.stopping import NoSuchModel, StackStops

#: model types that came with version 5
NEWER: Final = frozenset({"gemma4_text", "ministral3"})
#: classes that copy `type` over `rope_type`; the others look `rope_type` up first
COPYING: Final = frozenset({"llama", "qwen2", "qwen2_moe", "qwen3", "qwen3_moe"})
LOCAL: Final = "sliding_attention"


def standardised(config: Mapping[str, Any]) -> Standard:
    """The rotary block of each kind of layer; kinds and errors as in `transformers5.standardised`.

    `original_max_position_embeddings` of a LongRoPE block is that beside the block, as everywhere in version 4; a block
    of another kind keeps its own. Raises NoSuchModel for model types that came with version 5.

    >>> saved_by_5 = {"rope_parameters": {"rope_type": "yarn", "factor": 4.0, "rope_theta": 1e6}}
    >>> config = {"model_type": "qwen2", "hidden_size": 64, "num_attention_heads": 2, **saved_by_5}
    >>> standardised(config).blocks[0].values
    {'rope_theta': 10000.0, 'rope_type': 'default'}
    """
    model, reader = class_of(config)
    if model.name in NEWER:
        raise NoSuchModel(f"{model.name} came with transformers 5")
    try:
        found = [_block(model, reader, kind, block) for kind, block in _gathered(model, reader)]
        blocks = tuple(spread(model, reader, found))
    except (ArithmeticError, ValueError) as error:
        raise StackStops(f"the numbers of the file cannot be computed with ({error})") from error
    return Standard(model.name, blocks, model.longest(reader), reader.find(ORIGINAL), reader.named(""), model.notes)


def _gathered(model: ModelClass, reader: ConfigReader) -> Iterator[tuple[str, Gathering]]:
    kinds = model.rotation.kinds if len(model.rotation.kinds) > 1 else {ALL: model.rotation.base}
    for kind, rule in kinds.items():
        if kind != ALL and reader.names("layer_types") and kind not in reader.names("layer_types"):
            continue
        keys = model.base_keys if kind == ALL else rule.base_keys
        yield kind, _scaled(model, reader, first(reader, keys, rule.base), plain=kind == LOCAL)


def _scaled(model: ModelClass, reader: ConfigReader, base: Found, *, plain: bool) -> Gathering:
    held = None if plain or model.name in PLAIN else reader.config.get(OLD)
    path = reader.named(OLD)
    block = Gathering({} if held is None else mapping(held, path), path + ".")
    if model.name in COPYING and "type" in block.values:
        block.put("rope_type", Found(block.values["type"], block.origins["type"]))
    block.put("rope_theta", base)
    block.name_kind(KIND_NAMES.get(model.name, {}))
    share = share_of(model, reader)
    block.values.pop(PARTIAL, None)
    if share is not None and model.name not in PLAIN:
        block.put(PARTIAL, share)
    if block.values["rope_type"] == "longrope":
        _original_length(model, reader, block)
    return block


def _original_length(model: ModelClass, reader: ConfigReader, block: Gathering) -> None:
    """That beside the block; without it LongRoPE counts from the longest length."""
    given = reader.find(ORIGINAL)
    block.put(ORIGINAL, model.longest(reader) if given.value is None else given)


def _block(model: ModelClass, reader: ConfigReader, kind: str, block: Gathering) -> Block:
    turned = turned_width(model, reader, kind)
    share = block.values.get(PARTIAL)
    if model.name in PLAIN or (share is None and not isinstance(model.rotation.rotated, Fraction)):
        rotary = model.rotation.rotated.width(reader, {}, turned.value)
    else:
        rotary = _share_of_width(block, turned.value)
    if type(rotary.value) is not int or rotary.value <= 0:
        raise StackStops(f"{rotary.key} makes a rotated width of {rotary.value!r}")
    return made(model, reader, kind, block, rotary)


def _share_of_width(block: Gathering, turned: int) -> Found:
    share = block.values.get(PARTIAL, 1.0)
    required(share, block.origins.get(PARTIAL, PARTIAL), low=-SHARE, high=SHARE)
    return Found(int(turned * share), block.origins.get(PARTIAL, DEFAULT))
