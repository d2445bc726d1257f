"""Shares of ranks against the chunks written out, against Megatron's way of cutting, and through attention."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from gnomon import positions
from gnomon.attention import Attention, AttentionMask
from gnomon.encodings import ALiBi
from gnomon.errors import PositionError, ShapeError
from gnomon.positions import Scheme

SCHEMES: tuple[Scheme, ...] = ("contiguous", "zigzag", "round_robin")


def held(length: int, rank: int, world: int, scheme: Scheme) -> list[int]:
    """The tokens of one rank, chunk by chunk."""
    if scheme == "round_robin":
        return [token for token in range(length) if token % world == rank]
    chunks = 2 * world if scheme == "zigzag" else world
    mine = [rank, chunks - 1 - rank] if scheme == "zigzag" else [rank]
    return [token for chunk in mine for token in range(length) if token * chunks // length == chunk]


@given(st.integers(1, 5), st.integers(1, 4), st.sampled_from(SCHEMES))
def test_ranks_hold_each_token_once_and_in_the_written_order(world: int, each: int, scheme: Scheme) -> None:
    length = 2 * world * each
    shares = [positions.shard_index(length, rank, world, scheme) for rank in range(world)]
    assert [share.tolist() for share in shares] == [held(length, rank, world, scheme) for rank in range(world)]
    assert torch.cat(shares).sort().values.tolist() == list(range(length))


@given(st.integers(1, 4), st.sampled_from(SCHEMES), st.integers(0, 9))
def test_unshard_undoes_shard_for_positions_with_coordinates(world: int, scheme: Scheme, seed: int) -> None:
    ids = torch.randint(0, 99, (2, 4 * world, 3), generator=torch.Generator().manual_seed(seed))
    shares = [positions.shard(ids, rank, world, scheme) for rank in range(world)]
    assert all(share.shape == (2, 4, 3) for share in shares)
    assert torch.equal(positions.unshard(shares, scheme), ids)


def test_zigzag_is_the_cut_of_megatron() -> None:
    """Its batch cut: view as 2 x world chunks and select [rank, -rank - 1]."""
    world, values = 3, torch.arange(24).view(2, 12)
    for rank in range(world):
        chunks = values.view(2, 2 * world, 2).index_select(1, torch.tensor([rank, 2 * world - rank - 1]))
        assert torch.equal(positions.shard(values, rank, world, "zigzag"), chunks.reshape(2, -1))


@pytest.mark.parametrize("scheme", SCHEMES)
def test_other_tensors_are_cut_along_their_own_dimension(scheme: Scheme) -> None:
    q = torch.randn(2, 3, 8, 5, generator=torch.Generator().manual_seed(0))
    shares = [positions.shard(q, rank, 2, scheme, dim=-2) for rank in range(2)]
    assert torch.equal(shares[1], q[:, :, held(8, 1, 2, scheme)])
    assert torch.equal(positions.unshard(shares, scheme, dim=-2), q)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_packing_and_ranks_keep_the_positions_of_the_whole_row(scheme: Scheme) -> None:
    documents = torch.tensor([[4, 4, 4, 7, 7, 7, 7, 1], [2, 2, 2, 2, 2, 9, 9, 9]])
    ids = positions.from_documents(documents)
    for rank in range(2):
        mine = positions.shard(ids, rank, 2, scheme)
        index = positions.shard_index(8, rank, 2, scheme)
        assert mine.tolist() == [[row[:at].count(row[at]) for at in index] for row in documents.tolist()]


@pytest.mark.parametrize("scheme", SCHEMES)
def test_ranks_get_the_outputs_of_one_pass_over_the_packed_row(scheme: Scheme) -> None:
    """What a ring computes: each rank's queries against all keys, with positions and documents of the whole row."""
    torch.manual_seed(0)
    layer = Attention(8, num_heads=2, encoding=ALiBi(2), causal=False).eval()
    documents = torch.tensor([[0, 0, 0, 1, 1, 1, 1, 1]])
    x, ids = torch.randn(1, 8, 8), positions.from_documents(documents)
    whole = layer(x, ids, AttentionMask.of(documents=documents))

    def joined(parts: Tensor) -> Tensor:
        return torch.cat([positions.shard(parts, rank, 2, scheme) for rank in range(2)], dim=1)

    spread = layer(joined(x), joined(ids), AttentionMask.of(documents=joined(documents)))
    torch.testing.assert_close(positions.unshard(list(spread.chunk(2, dim=1)), scheme), whole)


BAD_INPUT = {
    "contiguous": (lambda: positions.shard_index(10, 0, 4), r"10 tokens do not split into 4 .* pad the row to 12"),
    "zigzag": (lambda: positions.shard_index(12, 0, 4, "zigzag"), r"into 8 equal parts \(zigzag.* pad the row to 16"),
    "round robin": (lambda: positions.shard_index(3, 0, 2, "round_robin"), "pad the row to 4"),
    "nothing": (lambda: positions.shard_index(0, 0, 2), "0 tokens do not split .* pad the row to 2"),
    "rank": (lambda: positions.shard_index(4, 2, 2), "Ranks are 0 to 1, got rank=2"),
    "negative rank": (lambda: positions.shard(torch.zeros(1, 4), -1, 2), "got rank=-1"),
    "world": (lambda: positions.shard_index(4, 0, 0), "at least 1 rank, got world=0"),
    "scheme": (
        lambda: positions.shard_index(4, 0, 2, "ring"),  # type: ignore[arg-type]
        "one of contiguous, zigzag, round_robin, got 'ring'",
    ),
}


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize("name", BAD_INPUT)
def test_impossible_shares_are_one_clear_sentence(name: str) -> None:
    call, message = BAD_INPUT[name]
    with pytest.raises(PositionError, match=message):
        call()


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize("shares", [[], [torch.zeros(1, 2), torch.zeros(1, 3)]], ids=["none", "unequal"])
def test_shares_of_different_shapes_do_not_join(shares: list[Tensor]) -> None:
    with pytest.raises(ShapeError, match="have one shape, got"):
        positions.unshard(shares)
