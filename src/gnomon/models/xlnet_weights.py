"""The weights of an XLNet of transformers in a gnomon XLNet."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from torch import Tensor, nn

from gnomon.errors import GnomonError
from gnomon.models.xlnet import XLNet
from gnomon.models.xlnet_options import XLNetOptions

#: A weight of one layer there -> the same here. Maps to heads are (dim, heads, head_dim) there, (out, in) here.
LAYER = {
    "rel_attn.q": "attention.query.weight",
    "rel_attn.k": "attention.key.weight",
    "rel_attn.v": "attention.value.weight",
    "rel_attn.o": "attention.output.weight",
    "rel_attn.r": "attention.encoding.projection.weight",
    "rel_attn.r_w_bias": "attention.encoding.content_bias_vector",
    "rel_attn.r_r_bias": "attention.encoding.position_bias_vector",
    "rel_attn.r_s_bias": "attention.segments.query_vector",
    "rel_attn.seg_embed": "attention.segments.vectors",
    "rel_attn.layer_norm.weight": "attention_norm.weight",
    "rel_attn.layer_norm.bias": "attention_norm.bias",
    "ff.layer_1.weight": "feed_forward.0.weight",
    "ff.layer_1.bias": "feed_forward.0.bias",
    "ff.layer_2.weight": "feed_forward.2.weight",
    "ff.layer_2.bias": "feed_forward.2.bias",
    "ff.layer_norm.weight": "feed_forward_norm.weight",
    "ff.layer_norm.bias": "feed_forward_norm.bias",
}
WHOLE = {"word_embedding.weight": "embedding.words.weight", "mask_emb": "mask_vector"}
PREFIX = "transformer."  #: stands before the names of the model below a head


def load_xlnet(model: nn.Module) -> XLNet:
    """A gnomon XLNet with the options and a copy of the weights of a transformers XLNetModel, or one with a head.

    Of the heads, the language model's bias comes over; without that head the bias is zero. Dropout does not come over:
    compare with `model.eval()`.
    """
    config: Any = getattr(model, "config", None)
    if config is None or config.model_type != "xlnet":
        raise GnomonError(
            f"{type(model).__name__} is not an XLNet of transformers; pass an XLNetModel or one with a head."
        )
    return load_xlnet_state(model.state_dict(), read_options(config.to_dict()))


def read_options(config: Mapping[str, Any]) -> XLNetOptions:
    """The options in the fields of a transformers config ("config.json").

    >>> sizes = {"vocab_size": 9, "d_model": 8, "n_layer": 1, "n_head": 2, "d_inner": 4}
    >>> read_options({**sizes, "attn_type": "uni", "clamp_len": -1}).causal
    True
    """
    if (kind := config.get("attn_type", "bi")) not in ("bi", "uni"):
        raise GnomonError(f"attn_type is 'bi' or 'uni', got {kind!r}.")
    clamp = config.get("clamp_len", -1)
    return XLNetOptions(
        vocabulary=config["vocab_size"],
        dim=config["d_model"],
        num_layers=config["n_layer"],
        num_heads=config["n_head"],
        feed_forward_dim=config["d_inner"],
        causal=kind == "uni",
        clamp_length=clamp if clamp > 0 else None,
        mirrored=config.get("bi_data", False),
        same_length=config.get("same_length", False),
        memory_length=config.get("mem_len") or None,
        reuse_length=config.get("reuse_len") or None,
        activation=config.get("ff_activation", "gelu"),
        norm_epsilon=config.get("layer_norm_eps", 1e-12),
    )


def load_xlnet_state(state: Mapping[str, Tensor], options: XLNetOptions) -> XLNet:
    """A gnomon XLNet with a copy of the weights in a transformers state dict, in their dtype.

    Raises GnomonError when a weight is missing, does not fit the options, or has no place here. The weights of heads
    other than the language model's are left aside.
    """
    converted = dict(_converted(state))
    words = converted.get("embedding.words.weight")
    if words is None:
        raise GnomonError("There is no word_embedding.weight; pass the state dict of a transformers XLNet.")
    head = state.get("lm_loss.weight", words)
    if head.shape != words.shape or not head.equal(words):
        raise GnomonError("The head has weights of its own; XLNet's are those of the word embeddings.")
    converted["head_bias"] = state.get("lm_loss.bias", words.new_zeros(len(words))).clone()
    model = XLNet(options)
    try:
        model.load_state_dict(converted, assign=True)
    except RuntimeError as error:
        raise GnomonError(f"The weights do not fit the options: {error}") from error
    return model.requires_grad_()


def _converted(state: Mapping[str, Tensor]) -> Iterator[tuple[str, Tensor]]:
    prefix = PREFIX if any(name.startswith(PREFIX) for name in state) else ""
    for name, tensor in state.items():
        inside = name.removeprefix(prefix)
        if not name.startswith(prefix) or name.startswith("lm_loss."):
            continue
        layer = re.fullmatch(r"layer\.(\d+)\.(.+)", inside)
        ours = LAYER.get(layer[2]) if layer else WHOLE.get(inside)
        if ours is None:
            raise GnomonError(f"{name} is no weight of an XLNet.")
        yield (f"layers.{layer[1]}.{ours}" if layer else ours), _reshaped(inside, tensor)


def _reshaped(name: str, tensor: Tensor) -> Tensor:
    last = name.rsplit(".", 1)[-1]
    if last in ("q", "k", "v", "r"):
        return tensor.flatten(1).T.clone()
    if last == "o":
        return tensor.flatten(1).clone()
    return (tensor.flatten() if last == "mask_emb" else tensor).detach().clone()
