"""Attention with all its biases and its mask in memory: right for whatever is asked, in a graph too."""

from jaxtyping import Float
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

from gnomon.attention.call import Call
from gnomon.attention.logits import added_bias, softmax_mask


def dense(call: Call) -> Float[Tensor, "B H Q D"]:
    """All at once: no mask at all where `is_causal` says enough, else one for each query and key."""
    k, v = call.heads()
    # is_causal aligns the mask to the top left, which is right only when there are as many queries as keys.
    plain = call.sees_all_before
    visible = None if plain and not call.encoding.needs_visible else call.visible()
    bias = added_bias(call.encoding, call.q, k, (call.positions, call.context.positions), visible)
    if plain and bias is None:
        return scaled_dot_product_attention(call.q, k, v, is_causal=True, scale=call.scale)
    visible = call.visible() if visible is None else visible
    mask = softmax_mask(bias, visible, call.q.dtype)
    return scaled_dot_product_attention(call.q, k, v, attn_mask=mask, scale=call.scale)
