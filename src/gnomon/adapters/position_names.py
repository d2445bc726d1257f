"""The names that the field gives to tensors that carry positions, and those of gnomon's own encodings."""

import re

from torch import nn

from gnomon.encodings.base import PositionEncoding

TABLE_NAME = re.compile(
    r"(^|[._])(wpe|wp|wpos|pe|pos|position|positions|positional|sinusoid\w*|sincos)([._]|$)"
    r"|pos(ition)?(al)?_?(emb|enc|table|wte)|embed_?pos|(emb|enc)\w*_pos(ition)?",
    re.IGNORECASE,
)
#: the last two: biases by offset, and rows for the coordinates of boxes on a page (LayoutLM)
NOT_A_TABLE = re.compile(
    r"relative|bias|norm|dense|linear|proj|attn|mlp|lora|_(key|query)([._]|$)|rel_?pos|(^|[._])([xyhw]|box)_pos",
    re.IGNORECASE,
)
RELATIVE_NAME = re.compile(
    r"relative_?(attention_?)?(bias|pos\w*|emb\w*)|rel_?(pos|emb|bias)\w*|pos\w*_bias\w*|bias_table|distance_emb\w*|slopes?"
    r"|alibi|(inv|rotary|rope)\w*_?freqs?|(^|[._])freqs([._]|$)|rpe([._]|$)|r_[wr]_bias",
    re.IGNORECASE,
)
NOT_POSITIONS = re.compile(r"proj|dense|norm|mlp|lora|cls", re.IGNORECASE)


def is_table_name(name: str) -> bool:
    """Whether a tensor of this name should hold a vector for each position.

    >>> is_table_name("transformer.wpe.weight"), is_table_name("transformer.wte.weight")
    (True, False)
    """
    return bool(TABLE_NAME.search(name) and not NOT_A_TABLE.search(name))


def is_relative_name(name: str) -> bool:
    """Whether a parameter of this name holds biases, frequencies or slopes.

    >>> is_relative_name("block.0.layer.0.SelfAttention.relative_attention_bias.weight")
    True
    """
    return bool(RELATIVE_NAME.search(name) and not NOT_POSITIONS.search(name))


def of_encodings(module: nn.Module) -> frozenset[str]:
    """Parameters of gnomon's own encodings, whatever they are called."""
    parts = ((path, part) for path, part in module.named_modules() if isinstance(part, PositionEncoding))
    return frozenset(f"{path}.{name}".lstrip(".") for path, part in parts for name, _ in part.named_parameters())
