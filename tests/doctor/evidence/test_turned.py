"""Rotations read off queries and keys on repeated tokens, whatever spelling made them."""

from collections.abc import Callable

import numpy as np
import pytest
import torch
from torch import Tensor

from gnomon.doctor.evidence.rotary import rotary_uses
from gnomon.doctor.evidence.turned import TurnedLanes, turned_lanes
from tests.helpers.gallery_forms import BASE, Form, Rotated, inverse, tables
from tests.helpers.healthy import FOREIGN
from tests.helpers.tiny_transformers import tiny_model
from tests.helpers.toys import ToyDecoder, subject_of

Turn = Callable[[Tensor, Tensor, Tensor], Tensor]
HALVES = ((0, 4), (1, 5), (2, 6), (3, 7))
NEIGHBOURS = ((0, 1), (2, 3), (4, 5), (6, 7))


def matrices(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    turn = torch.stack((torch.stack((cos, -sin), -1), torch.stack((sin, cos), -1)), -2)
    pairs = x.unflatten(-1, (-1, 2))
    return torch.einsum("bhspij,bhspj->bhspi", turn.expand(*x.shape[:2], -1, -1, -1, -1), pairs).flatten(-2)


def into_slices(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    out = torch.empty_like(x)
    out[..., ::2] = x[..., ::2] * cos - x[..., 1::2] * sin
    out[..., 1::2] = x[..., 1::2] * cos + x[..., ::2] * sin
    return out


def in_place(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    a, b = x[..., :4].clone(), x[..., 4:].clone()
    first, second = a.mul(cos), b.mul(cos)
    first.addcmul_(b, sin, value=-1)
    second.addcmul_(a, sin)
    return torch.cat((first, second), dim=-1)


def multiplied_out(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    a, b = x.chunk(2, dim=-1)
    out = torch.empty_like(x)
    torch.sub(a * cos, b * sin, out=out[..., :4])
    torch.add(b * cos, a * sin, out=out[..., 4:])
    return out


def lanes_of(turn: Turn) -> tuple[TurnedLanes, ...]:
    class Spelt(Form):
        def turn(self, x: Tensor, positions: Tensor, layer: int) -> Tensor:
            return turn(x, *tables(positions, self.head_dim))

    return turned_lanes(subject_of(Spelt()))


@pytest.mark.parametrize(
    ("turn", "pairs"), [(matrices, NEIGHBOURS), (into_slices, NEIGHBOURS), (in_place, HALVES), (multiplied_out, HALVES)]
)
def test_every_spelling_shows_its_pairs_and_angles(turn: Turn, pairs: tuple[tuple[int, int], ...]) -> None:
    found = lanes_of(turn)
    assert [(lanes.where, lanes.side) for lanes in found] == [
        (f"blocks.{layer}", side) for layer in (0, 1) for side in ("queries", "keys")
    ]
    for lanes in found:
        assert lanes.pairs == pairs
        expected = np.exp(1j * np.arange(19)[:, None] * np.array([BASE ** (-2 * i / 8) for i in range(4)]))
        np.testing.assert_allclose(lanes.turns, expected, atol=1e-4)


def test_a_spelling_that_the_watcher_does_not_know_is_still_a_rotary_use() -> None:
    class Spelt(Form):
        def turn(self, x: Tensor, positions: Tensor, layer: int) -> Tensor:
            return matrices(x, *tables(positions, self.head_dim))

    [use] = rotary_uses(subject_of(Spelt()))
    assert (use.first.layout, use.first.direction, use.first.rotary_dim, use.layers) == ("interleaved", 1, 8, 2)
    np.testing.assert_allclose(use.frequencies, inverse(8).numpy(), rtol=1e-4)


def test_a_rotation_backwards_has_angles_with_the_other_sign() -> None:
    [queries, *_] = lanes_of(lambda x, cos, sin: into_slices(x, cos, -sin))
    assert float(np.angle(queries.turns[1, 0])) == pytest.approx(-1, abs=1e-4)


@pytest.mark.parametrize(
    ("family", "pairs"),
    [("deepseek_v2", ((8, 9), (10, 11), (12, 13))), ("deepseek_v3", ((8, 11), (9, 12), (10, 13)))],
)
def test_the_rotated_part_of_latent_attention_is_found_in_its_place(
    family: str, pairs: tuple[tuple[int, int], ...]
) -> None:
    assert {lanes.pairs for lanes in turned_lanes(subject_of(tiny_model(family)))} == {pairs}


def test_without_positions_everything_is_still() -> None:
    assert all(lanes.still for lanes in turned_lanes(subject_of(Form())))


def test_positions_in_the_hidden_vectors_are_not_explained_by_pairs() -> None:
    for lanes in turned_lanes(subject_of(FOREIGN["gpt-2"]()))[:2]:
        assert lanes.unexplained == tuple(range(8))


def test_queries_and_keys_of_a_fused_kernel_are_read_too() -> None:
    assert len(turned_lanes(subject_of(ToyDecoder()))) == 4
    assert {lanes.pairs for lanes in turned_lanes(subject_of(FOREIGN["llama"]()))} == {HALVES}
    assert {lanes.pairs for lanes in turned_lanes(subject_of(Rotated()))} == {HALVES}
