"""Shares of attention by heads, one after another in one process."""

from typing import Any

import pytest
import torch
from torch import nn

from gnomon.attention import Attention, AttentionMask
from gnomon.encodings import ALiBi, DeBERTa, PositionEncoding, Rotary, T5Bias, TransformerXL
from gnomon.errors import GnomonError, ShapeError
from gnomon.parallel import shard_heads
from gnomon.parallel.head_shards import head_range


def layer(encoding: PositionEncoding, key_heads: int = 12, **options: float) -> Attention:
    torch.manual_seed(0)
    return Attention(36, num_heads=12, num_key_heads=key_heads, encoding=encoding, causal=True, **options)  # type: ignore[arg-type]


ENCODINGS = [ALiBi(12), T5Bias(12), TransformerXL(12, 4, dim=36), Rotary(4)]


@pytest.mark.parametrize("encoding", ENCODINGS, ids=lambda encoding: type(encoding).__name__)
@pytest.mark.parametrize(("world", "key_heads"), [(2, 12), (3, 12), (4, 4), (2, 4), (4, 2), (12, 1)])
def test_shares_add_up_to_the_whole(encoding: PositionEncoding, world: int, key_heads: int) -> None:
    whole = layer(encoding, key_heads, head_dim=4, window=5, scale=0.7)
    x, positions = torch.randn(2, 7, 36), torch.arange(3, 10)[None]
    mask = AttentionMask.of(torch.tensor([[1] * 7, [0, 0, 1, 1, 1, 1, 1]]))
    parts = [shard_heads(whole, rank, world)(x, positions, mask) for rank in range(world)]
    got = torch.stack(parts).sum(0) + whole.output.bias
    torch.testing.assert_close(got, whole(x, positions, mask), atol=1e-6, rtol=0)


def test_a_share_holds_its_share_and_nothing_of_the_whole() -> None:
    whole = layer(T5Bias(12), 6)
    part = shard_heads(whole, rank=2, world=3)
    shapes = {name: tuple(parameter.shape) for name, parameter in part.named_parameters()}
    assert shapes == {
        "encoding.weight": (32, 4),
        "query.weight": (12, 36),
        "query.bias": (12,),
        "key.weight": (6, 36),
        "key.bias": (6,),
        "value.weight": (6, 36),
        "value.bias": (6,),
        "output.weight": (36, 12),
    }
    memory = {parameter.untyped_storage().data_ptr() for parameter in whole.parameters()}
    assert not memory & {parameter.untyped_storage().data_ptr() for parameter in part.parameters()}


def test_maps_that_the_encoding_shares_with_the_layer_stay_shared() -> None:
    encoding = DeBERTa(12, 4, dim=36, max_distance=6)
    whole = layer(encoding, head_dim=4)
    encoding.position_key, encoding.position_query = whole.key, whole.query
    part = shard_heads(whole, rank=1, world=3)
    assert part.encoding.get_parameter("position_key.weight") is part.key.weight
    assert part.encoding.get_parameter("position_query.bias") is part.query.bias
    x, positions = torch.randn(2, 7, 36), torch.arange(7)[None]
    parts = [shard_heads(whole, rank, 3)(x, positions) for rank in range(3)]
    got = torch.stack(parts).sum(0) + whole.output.bias
    torch.testing.assert_close(got, whole(x, positions), atol=1e-6, rtol=0)


def test_what_is_frozen_stays_frozen_and_the_mode_is_kept() -> None:
    whole = layer(T5Bias(12)).eval()
    whole.query.requires_grad_(False)
    whole.encoding.requires_grad_(False)
    part = shard_heads(whole, 0, 2)
    trained = {name for name, parameter in part.named_parameters() if parameter.requires_grad}
    assert trained == {"key.weight", "key.bias", "value.weight", "value.bias", "output.weight"}
    assert not any(module.training for module in part.modules())


def test_layers_without_projection_bias_have_none() -> None:
    part = shard_heads(layer(Rotary(3 + 1), head_dim=4, projection_bias=False), 1, 2)
    assert part.query.bias is None


@pytest.mark.parametrize(
    ("key_heads", "rank", "world", "message"),
    [
        (12, 0, 5, "12 heads do not split evenly over 5 ranks"),
        (12, 2, 2, "Ranks are 0 to 1, got rank=2"),
        (12, 0, 0, "There is at least 1 rank, got world=0"),
        (12, 0, -1, "There is at least 1 rank, got world=-1"),
        (12, "0", 2, "Rank and world are integers, got rank='0', world=2"),
        (12, 0.0, 2, "Rank and world are integers, got rank=0.0, world=2"),
        (12, 0, 2.0, "Rank and world are integers, got rank=0, world=2.0"),
        (12, True, 2, "Rank and world are integers, got rank=True, world=2"),
        (4, 0, 6, "Each of 4 key heads serves 3 heads, which 2 heads on each of 6 ranks cut across"),
    ],
)
def test_heads_that_do_not_split_are_refused(key_heads: int, rank: Any, world: Any, message: str) -> None:
    with pytest.raises(ShapeError, match=message):
        shard_heads(layer(ALiBi(12), key_heads), rank, world)


@pytest.mark.parametrize(("given", "told"), [(None, "None"), (nn.Linear(2, 2), "Linear"), (Attention, "the class Att")])
def test_what_is_no_attention_is_refused(given: Any, told: str) -> None:
    with pytest.raises(GnomonError, match=rf"^Heads are cut of a gnomon\.attention\.Attention, got {told}"):
        shard_heads(given, 0, 2)
    with pytest.raises(GnomonError, match=r"^The encoding of some heads is .*, got str\.$"):
        shard_heads(layer(ALiBi(12)), 0, 2, encoding="alibi")  # type: ignore[arg-type]


def test_ranks_cover_all_heads_once() -> None:
    heads = [head for rank in range(4) for head in range(*_ends(rank))]
    assert heads == list(range(12))


def _ends(rank: int) -> tuple[int, int]:
    first, count = head_range(12, rank, 4)
    return first, first + count
