"""transformers models whose queries and keys are turned by gnomon instead of by their own rotation."""

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest import mock

import torch
from torch import Tensor, nn

from gnomon.encodings import PositionEncoding

ROTATING = ("RotaryEmbedding", "RopePositionEmbedding")
#: (attention module, queries, keys) -> both, turned
Turn = Callable[[nn.Module, Tensor, Tensor], tuple[Tensor, Tensor]]


def by(encodings: Sequence[PositionEncoding], positions: Tensor) -> Turn:
    """Turn by the encoding of each layer at these positions; a model that does not number its layers needs one only."""

    def turn(module: nn.Module, query: Tensor, key: Tensor) -> tuple[Tensor, Tensor]:
        layer = getattr(module, "layer_idx", None)
        if layer is None and len({encoding.to_json() for encoding in encodings}) > 1:
            raise LookupError("The layers have several encodings, and this one has no number.")
        encoding = encodings[layer or 0]
        return encoding.rotate_query(query, positions), encoding.rotate_key(key, positions)

    return turn


@contextmanager
def turned(model: nn.Module, turn: Turn) -> Iterator[None]:
    """Inside, the model's own rotation is by the angle 0, and `turn` gets whole heads just before the attention."""
    modeling: Any = sys.modules[type(model).__module__]
    eager = modeling.eager_attention_forward

    def attend(module: nn.Module, query: Tensor, key: Tensor, *rest: Any, **more: Any) -> Any:
        return eager(module, *turn(module, query, key), *rest, **more)

    with ExitStack() as stack:
        for module in model.modules():
            if any(name in type(module).__name__ for name in ROTATING):
                stack.callback(module.register_forward_hook(_still).remove)
        stack.enter_context(mock.patch.object(modeling, "eager_attention_forward", attend))
        yield


def _still(module: nn.Module, _: Any, result: Any) -> Any:
    """The angle 0 in the form that the module has: (cos, sin), (sin, cos) for GPT-J, or one complex number."""
    if isinstance(result, Tensor):
        return torch.ones_like(result)
    cos, sin = (
        result if type(module).__name__ not in ("GPTJRotaryEmbedding", "CodeGenRotaryEmbedding") else result[::-1]
    )
    still = torch.ones_like(cos), torch.zeros_like(sin)
    return still if result[0] is cos else still[::-1]
