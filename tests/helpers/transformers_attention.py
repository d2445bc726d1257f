"""Tiny random transformers models, and the weights of one of their attention layers in a gnomon Attention."""

from dataclasses import dataclass
from typing import Any

import torch
import transformers
from torch import Tensor, nn

from gnomon.attention import Attention
from gnomon.encodings.base import PositionEncoding
from tests.helpers.weights import redraw

DIM, HEADS, VOCABULARY = 32, 4, 40


@dataclass(frozen=True)
class Projections:
    """Weight (out, in) and bias of the four linear maps of an attention layer."""

    query: tuple[Tensor, Tensor | None]
    key: tuple[Tensor, Tensor | None]
    value: tuple[Tensor, Tensor | None]
    output: tuple[Tensor, Tensor | None]

    def into(self, encoding: PositionEncoding, *, causal: bool) -> Attention:
        """An Attention with these weights."""
        head_dim = DIM // HEADS
        layer = Attention(
            DIM,
            num_heads=HEADS,
            num_key_heads=self.key[0].shape[0] // head_dim,
            encoding=encoding,
            causal=causal,
            projection_bias=self.query[1] is not None,
        )
        with torch.no_grad():
            for name in ("query", "key", "value", "output"):
                linear, (weight, bias) = getattr(layer, name), getattr(self, name)
                linear.weight.copy_(weight)
                if bias is not None:
                    linear.bias.copy_(bias)
        return layer


@dataclass
class Captured:
    """What went into a module of a foreign model, and what came out."""

    given: tuple[Any, ...] = ()
    came: Any = None


def capture(module: nn.Module) -> Captured:
    """Keep the arguments and the result of the module's next call."""
    kept = Captured()

    def hook(_: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> None:
        kept.given = (*args, *kwargs.values())
        kept.came = result[0] if isinstance(result, tuple) else result

    module.register_forward_hook(hook, with_kwargs=True)
    return kept


def build(name: str, **options: Any) -> Any:
    """The base model of a family, in eval mode, with every weight redrawn at std 0.2."""
    config = getattr(transformers, f"{name}Config")(vocab_size=VOCABULARY, attn_implementation="eager", **options)
    model = getattr(transformers, f"{name}Model")(config).eval()
    redraw(model)
    return model


def separate(q: nn.Linear, k: nn.Linear, v: nn.Linear, out: nn.Linear) -> Projections:
    """Four linear layers: Llama, GPT-J, BERT."""
    query, key, value, output = ((linear.weight, linear.bias) for linear in (q, k, v, out))
    return Projections(query, key, value, output)


def stacked(attention: Any) -> Projections:
    """One Conv1D (in, out) with queries, keys and values side by side: GPT-2."""
    weights, biases = attention.c_attn.weight.T.chunk(3), attention.c_attn.bias.chunk(3)
    query, key, value = zip(weights, biases, strict=True)
    return Projections(query, key, value, (attention.c_proj.weight.T, attention.c_proj.bias))


def by_head(attention: Any) -> Projections:
    """One linear layer with q, k and v of head 0, then of head 1, ...: Bloom and GPT-NeoX."""
    fused = attention.query_key_value
    weights = fused.weight.view(HEADS, 3, -1, DIM).unbind(1)
    biases = fused.bias.view(HEADS, 3, -1).unbind(1)
    query, key, value = ((w.reshape(DIM, DIM), b.reshape(DIM)) for w, b in zip(weights, biases, strict=True))
    return Projections(query, key, value, (attention.dense.weight, attention.dense.bias))
