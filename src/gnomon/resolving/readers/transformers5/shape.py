"""A model's shape without its scaling, for stacks that read the block of the raw file themselves."""

from collections.abc import Mapping
from typing import Any, Final

from gnomon.resolving.readers.transformers5.standard import Standard
from gnomon.resolving.readers.transformers5.standardising import standardised
from gnomon.resolving.rules.keys import BLOCKS, PARTS

_DROPPED: Final = (*BLOCKS, "original_max_position_embeddings")


def shape(config: Mapping[str, Any]) -> Standard:
    """Widths, layouts, kinds of layers and softmax scales as the model's family has them, whatever the block says.

    Raises NoSuchModel for models without rotation, and where the file does not say how wide a head is.

    >>> broken = {"model_type": "llama", "hidden_size": 64, "num_attention_heads": 2, "rope_scaling": "?"}
    >>> shape(broken).blocks[0].rotary_dim.value
    32
    """
    bare = {key: value for key, value in config.items() if key not in _DROPPED}
    for name in PARTS:
        inner = bare.get(name)
        if isinstance(inner, Mapping):
            bare[name] = {key: value for key, value in inner.items() if key not in _DROPPED}
    return standardised(bare)
