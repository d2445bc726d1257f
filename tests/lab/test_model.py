"""The model of a run: the heads against arithmetic by hand, which attention it has, and how far its positions go."""

import pytest
import torch

from gnomon.errors import GnomonError
from gnomon.lab.model import LabModel, ModelSpec, Pointer
from gnomon.lab.tasks.base import Batch, Classes, NextToken, Output, Sight, Slots, Split, Task
from gnomon.models import Decoder, ModelOptions


class Anything(Task):
    """A task with any output."""

    vocabulary = 11
    sights: tuple[Sight, ...] = ("causal", "both")

    def __init__(self, output: Output) -> None:
        self.output = output

    def slots(self, length: int) -> int:
        return length

    def batch(self, split: Split, length: int | None, size: int, generator: torch.Generator) -> Batch:
        raise NotImplementedError


IDS = torch.tensor([[3, 1, 4, 1, 5], [9, 2, 6, 5, 3]])


def model(output: Output, **spec: object) -> LabModel:
    torch.manual_seed(0)
    return LabModel(ModelSpec(dim=16, num_heads=2, **spec), Anything(output), max_length=7)  # type: ignore[arg-type]


def test_next_tokens_come_from_a_decoder_with_tied_embeddings() -> None:
    built = model(NextToken(), encoding={"encoding": "rotary"})
    from gnomon.encodings import Rotary

    decoder = Decoder(ModelOptions(11, 16, 2, 2), encoding=Rotary(8))
    decoder.load_state_dict(built.state_dict())
    torch.testing.assert_close(built(IDS), decoder(IDS))


def test_classes_come_from_a_linear_map_of_each_slot() -> None:
    built = model(Classes(3))
    hidden = []
    built.stack.register_forward_hook(lambda module, given, out: hidden.append(out))
    logits = built(IDS)
    assert isinstance(built.head, torch.nn.Linear)
    torch.testing.assert_close(logits, hidden[0] @ built.head.weight.T + built.head.bias)
    assert logits.shape == (2, 5, 3)


def test_a_pointer_scores_each_pair_of_slots() -> None:
    torch.manual_seed(1)
    pointer, x = Pointer(4), torch.randn(2, 3, 4)
    scores = pointer(x)
    for b, i, j in ((0, 0, 2), (1, 2, 1)):
        one = pointer.dependent.weight @ x[b, i] + pointer.dependent.bias
        two = pointer.head.weight @ x[b, j] + pointer.head.bias
        torch.testing.assert_close(scores[b, i, j], (one * two).sum() / 2)
    assert model(Slots())(IDS).shape == (2, 5, 5)


@pytest.mark.parametrize(("sight", "changes"), [("causal", False), ("both", True)])
def test_sight_says_whether_a_slot_sees_later_ones(sight: str, changes: bool) -> None:
    built = model(Classes(3), sight=sight).eval()
    other = IDS.clone()
    other[:, -1] = 7
    assert torch.equal(built(IDS)[:, 0], built(other)[:, 0]) is not changes


def test_padding_is_not_seen() -> None:
    built = model(Classes(3), sight="both", encoding={"encoding": "alibi"}).eval()
    real = torch.tensor([[1, 1, 1, 0, 0], [1, 1, 1, 1, 1]], dtype=torch.bool)
    other = IDS.clone()
    other[0, 3:] = 8
    torch.testing.assert_close(built(IDS, real)[0, :3], built(other, real)[0, :3])


@pytest.mark.parametrize(
    ("encoding", "limit"),
    [
        ({"encoding": "rotary"}, None),
        ({"encoding": "learned"}, 7),
        ([{"encoding": "learned"}, {"encoding": "learned", "max_length": 5}], 5),
        ([{"encoding": "rotary"}, {"encoding": "nope"}], None),
    ],
)
def test_the_shortest_table_limits_the_rows(encoding: dict[str, object], limit: int | None) -> None:
    assert model(NextToken(), encoding=encoding).max_length == limit


def test_a_task_that_cannot_be_learnt_so_is_refused() -> None:
    class CausalOnly(Anything):
        sights: tuple[Sight, ...] = ("causal",)

    with pytest.raises(GnomonError, match="CausalOnly is learnt with sight causal, not both"):
        LabModel(ModelSpec(sight="both"), CausalOnly(NextToken()), max_length=4)
