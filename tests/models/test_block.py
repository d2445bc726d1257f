"""The block, from its parts."""

import torch

from gnomon.attention import Attention, AttentionMask
from gnomon.encodings import ALiBi
from gnomon.models.block import Block
from tests.helpers.weights import normal, redraw


def test_a_block_adds_attention_and_then_a_feed_forward_of_normed_inputs() -> None:
    block = Block(Attention(12, num_heads=3, encoding=ALiBi(3), causal=True), dim=12)
    redraw(block)
    x, place = normal(2, 5, 12), torch.arange(5)[None]
    mask = AttentionMask.of(torch.tensor([[0, 1, 1, 1, 1], [1] * 5]))

    def norm(x: torch.Tensor) -> torch.Tensor:
        return (x - x.mean(-1, keepdim=True)) / (x.var(-1, correction=0, keepdim=True) + 1e-5).sqrt()

    middle = x + block.attention(norm(x), place, mask)
    weights = block.feed_forward.state_dict()
    hidden = norm(middle) @ weights["0.weight"].T + weights["0.bias"]
    gelu = hidden * 0.5 * (1 + torch.erf(hidden / 2**0.5))
    expected = middle + gelu @ weights["2.weight"].T + weights["2.bias"]
    torch.testing.assert_close(block(x, place, mask), expected, atol=1e-5, rtol=1e-5)
