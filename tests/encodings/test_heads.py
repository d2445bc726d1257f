"""Parts of encodings for some of a model's heads. That parts are what the whole has is a clause of the contract."""

from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn.utils import parametrize
from transformers.models.bloom.modeling_bloom import build_alibi_tensor

from gnomon.encodings import (
    ALiBi,
    CoPE,
    Learned,
    PositionEncoding,
    RandomizedPositions,
    Rotary,
    Sandwich,
    Shaw,
    T5Bias,
    TransformerXL,
    from_json,
    registry,
)
from gnomon.encodings.heads import checked_part
from gnomon.encodings.score_bias import DistanceBias, per_head
from gnomon.errors import GnomonError, ShapeError
from gnomon.testing import check_encoding


@pytest.mark.parametrize("world", [1, 2, 3, 4])
def test_alibi_slopes_of_each_rank_are_those_of_bloom_with_all_heads(world: int) -> None:
    whole, count = ALiBi(12, form="causal"), 12 // world
    positions = torch.arange(5)[None]
    theirs = build_alibi_tensor(torch.ones(1, 5, dtype=torch.int64), 12, torch.float32).view(1, 12, 1, 5)
    for rank in range(world):
        ours = whole.for_heads(rank * count, count).bias(positions, positions)
        assert ours is not None
        wanted = theirs[:, rank * count : (rank + 1) * count]
        torch.testing.assert_close(ours, wanted.expand_as(ours), atol=1e-6, rtol=0)


def test_a_part_of_alibi_is_not_alibi_of_a_smaller_model() -> None:
    assert ALiBi(12).for_heads(0, 6) != ALiBi(6)
    part = ALiBi(12).for_heads(6, 6)
    assert isinstance(part, ALiBi)
    assert part.slopes == ALiBi(12).slopes[6:] != ALiBi(6).slopes
    assert part.flash_slopes().tolist() == pytest.approx(list(part.slopes))


@pytest.mark.parametrize("encoding", [Rotary(8), Learned(9, 6)], ids=["rotary", "learned"])
def test_an_encoding_without_numbers_for_heads_is_its_own_part(encoding: PositionEncoding) -> None:
    assert encoding.for_heads(7, 2) is encoding
    with pytest.raises(ShapeError, match="Heads are counted from 0; got 0 from head 3 on"):
        encoding.for_heads(3, 0)


@pytest.mark.parametrize("whole", [ALiBi(6), T5Bias(6), CoPE(6, 4)], ids=["fixed", "learned", "shared"])
def test_heads_that_are_not_there_are_refused_by_number(whole: PositionEncoding) -> None:
    with pytest.raises(ShapeError, match="Heads are counted from 0 to 5; got 4 from head 3 on"):
        whole.for_heads(3, 4)
    with pytest.raises(ShapeError, match="from 0 to 1; got 1 from head 2 on"):
        whole.for_heads(2, 2).for_heads(2, 1)


@pytest.mark.parametrize(
    ("part_of", "message"),
    [([1], r"part_of is \(first head, heads of the whole model\), got \(1,\)"), ([5, 8], "0 to 7; got 4 from head 5")],
)
def test_a_wrong_part_is_refused(part_of: list[int], message: str) -> None:
    for build in (ALiBi, Sandwich):
        with pytest.raises(GnomonError, match=message):
            build(4, part_of=part_of)
    assert checked_part([4, 8], 4) == (4, 8)


def test_options_name_the_part_only_where_there_is_one() -> None:
    assert "part_of" not in ALiBi(4).options
    assert ALiBi(4).for_heads(0, 4).options == ALiBi(4).options
    part = Sandwich(12).for_heads(2, 6).for_heads(3, 2)
    assert part.options["part_of"] == [5, 12]
    assert from_json(part.to_json()).options == part.options


def test_a_part_keeps_dtype_and_mode_and_what_is_trained() -> None:
    whole = TransformerXL(6, 4, dim=8).to(torch.bfloat16).eval()
    whole.projection.requires_grad_(False)
    part = whole.for_heads(2, 3)
    assert {name: (tuple(p.shape), p.dtype, p.requires_grad) for name, p in part.named_parameters()} == {
        "content_bias_vector": ((3, 4), torch.bfloat16, True),
        "position_bias_vector": ((3, 4), torch.bfloat16, True),
        "projection.weight": ((12, 8), torch.bfloat16, False),
    }
    assert not part.training
    assert all(p.is_leaf and p.is_contiguous() for p in part.parameters())


def test_a_part_holds_no_memory_of_the_whole() -> None:
    whole = T5Bias(12)
    part = whole.for_heads(3, 1)
    [weight] = part.parameters()
    assert weight.untyped_storage().nbytes() == 32 * 1 * 4


def test_building_a_part_draws_no_random_numbers() -> None:
    whole = T5Bias(4)
    before = torch.get_rng_state()
    whole.for_heads(0, 2)
    assert torch.equal(torch.get_rng_state(), before)


def test_heads_with_tables_of_their_own_and_one_table_for_all() -> None:
    assert Shaw(6, 4, shared_heads=False).for_heads(1, 2).get_parameter("weight").shape == (2, 33, 4)
    assert Shaw(6, 4).for_heads(1, 2).get_parameter("weight").shape == (33, 4)


def test_random_ids_are_those_of_the_whole_until_they_are_drawn_anew() -> None:
    whole = RandomizedPositions({"encoding": "alibi", "num_heads": 6}, max_length=8, span=50, seed=2)
    part = whole.for_heads(4, 2)
    assert isinstance(part, RandomizedPositions)
    assert torch.equal(part.ids, whole.ids)
    part.redraw(seed=3)
    assert not torch.equal(part.ids, whole.ids)
    whole.redraw(seed=3)
    assert torch.equal(part.ids, whole.ids)
    positions = torch.arange(8)[None]
    ours, all_heads = part.bias(positions, positions), whole.bias(positions, positions)
    assert ours is not None
    assert all_heads is not None
    assert torch.equal(ours, all_heads[:, 4:])
    rotary = RandomizedPositions({"encoding": "rotary", "head_dim": 8}, max_length=8, span=50)
    assert rotary.for_heads(4, 2) is rotary


class Doubled(nn.Module):
    def forward(self, weight: Tensor) -> Tensor:
        return 2 * weight


def test_wrapped_parameters_are_refused() -> None:
    whole = T5Bias(4)
    parametrize.register_parametrization(whole, "weight", Doubled())
    with pytest.raises(GnomonError, match=r"holds parametrizations\.weight\.original instead of its own parameters"):
        whole.for_heads(0, 2)


class Uncut(DistanceBias):
    """A bias of a user's, which says nothing of its heads."""

    def by_distance(self, relative: Tensor) -> Tensor:
        return per_head(torch.arange(1.0, 1.0 + self.num_heads), relative) * -relative.abs()

    @property
    def options(self) -> dict[str, Any]:
        return {"num_heads": self.num_heads}


def test_an_encoding_that_counts_heads_and_says_no_more_is_refused_and_keeps_the_contract() -> None:
    with pytest.raises(GnomonError, match="Uncut does not say how its heads are cut; give it heads_along"):
        Uncut(4).for_heads(0, 2)
    check_encoding(Uncut(4))


@pytest.mark.parametrize("name", registry.names())
def test_every_encoding_here_can_be_cut(name: str) -> None:
    assert registry.get(name).sample(num_heads=3, head_dim=8).for_heads(1, 2) is not None


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize("encoding", [T5Bias(4), ALiBi(4), Rotary(8), Sandwich(4)], ids=lambda e: type(e).__name__)
@pytest.mark.parametrize(("first", "count"), [(0.0, 2), (0, 2.0), ("0", 2), (None, 2), (0, None), (False, True)])
def test_heads_are_counted_by_integers(encoding: PositionEncoding, first: Any, count: Any) -> None:
    with pytest.raises(ShapeError, match=rf"by integers, got first={first!r} and count={count!r}\.$"):
        encoding.for_heads(first, count)
