"""RoPE-Mixed: one angle from all coordinates, heads of their own, first numbers, gradients, and timm."""

import math
from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest
import torch
from torch import Tensor

from gnomon.attention import Attention
from gnomon.encodings import AxialRotary, MixedRotary
from gnomon.encodings.mixed_rotary import reference
from gnomon.errors import GnomonError, ShapeError
from gnomon.positions import grid as places
from gnomon.testing import Reference
from tests.helpers.case import Case
from tests.helpers.mutated_encodings import (
    AllZero,
    CopiesShareTheTable,
    FalselyRelative,
    FirstRowForAll,
    FrozenTable,
    SignFlipped,
    Wrapped,
)
from tests.helpers.mutated_precision import Bfloat16Ids
from tests.helpers.peers import timm_rotary
from tests.helpers.rotary_forms import scattered
from tests.helpers.weights import normal

BATCH, HEADS = 2, 3


def cases() -> Iterator[Case]:
    """The contract does not tell a formula which head it is for, so heads with directions of their own are below."""
    for name, made in {
        "plane": MixedRotary(1, 8),
        "half": MixedRotary(1, 12, base=100.0, layout="half"),
        "video": MixedRotary(1, 14, axes=3, rotary_dim=12, base=50.0),
        "heads": MixedRotary(3, 8),
    }.items():
        redrawn(made)
        if name == "heads":
            with torch.no_grad():
                made.directions.copy_(made.directions[:1].expand_as(made.directions).clone())
        turned = partial(reference, directions=made.directions[0].tolist(), layout=made.layout)
        yield Case(f"mixed_rotary-{name}", made, Reference(rotate_query=turned, rotate_key=turned))


def redrawn(encoding: MixedRotary) -> MixedRotary:
    """Directions that are the same in every run."""
    with torch.no_grad():
        encoding.directions.copy_(normal(*encoding.directions.shape, seed=3))
    return encoding


class OneAxis(Wrapped):
    def ids(self, positions: Tensor) -> Tensor:
        return positions[..., :1].expand_as(positions)


def mutations() -> list[tuple[type[Wrapped], str, set[str]]]:
    name = "mixed_rotary-heads"
    return [
        (SignFlipped, "mixed_rotary-video", set()),
        (OneAxis, "mixed_rotary-plane", set()),
        (AllZero, name, {"uses_position", "gradients"}),
        (FrozenTable, name, {"gradients"}),
        (CopiesShareTheTable, name, {"copies"}),
        (FalselyRelative, name, {"shift_invariance"}),
        (FirstRowForAll, name, {"rows_of_the_batch"}),
        (Bfloat16Ids, "mixed_rotary-half", {"shift_invariance"}),
    ]


@pytest.mark.parametrize("layout", ["half", "interleaved"])
@pytest.mark.parametrize("axes", [2, 3])
def test_every_head_equals_the_formula_with_its_own_directions(layout: Any, axes: int) -> None:
    encoding = redrawn(MixedRotary(HEADS, 12, axes=axes, layout=layout)).double()
    x, place = normal(BATCH, HEADS, 9, 12).double(), scattered(*(300, 500, 700)[:axes])
    for turned in (encoding.rotate_query(x, place), encoding.rotate_key(x, place)):
        for row, head, token in (
            (row, head, token) for row in range(BATCH) for head in range(HEADS) for token in (0, 5)
        ):
            want = reference(
                x[row, head, token].tolist(),
                place[row, token].tolist(),
                directions=encoding.directions[head].tolist(),
                layout=layout,
            )
            assert turned[row, head, token].tolist() == pytest.approx(want, abs=1e-12)


def test_directions_along_the_axes_are_axial_rotary() -> None:
    axial, encoding = AxialRotary(8, layout="interleaved"), MixedRotary(HEADS, 8)
    along = torch.zeros(2, 4)
    for pair, (axis, frequency) in enumerate(zip(axial.axis_of_pair, axial.inverse_frequencies, strict=True)):
        along[axis, pair] = frequency
    with torch.no_grad():
        encoding.directions.copy_(along)
    x, place = normal(BATCH, HEADS, 9, 8), scattered(7, 11)
    torch.testing.assert_close(encoding.rotate_query(x, place), axial.rotate_query(x, place), atol=1e-5, rtol=0)


def test_the_mixed_form_of_timm_with_width_before_height() -> None:
    timm, grid = timm_rotary(), (3, 5)
    theirs = timm.RotaryEmbeddingMixed(HEADS * 8, depth=2, num_heads=HEADS)
    embeds, x = theirs.get_embed(grid), normal(BATCH, HEADS, 15, 8)
    for layer in range(2):
        encoding = MixedRotary(HEADS, 8)
        encoding.load_state_dict({"directions": theirs.freqs[[1, 0], layer].transpose(0, 1)})
        expected = timm.apply_rot_embed_cat(x, embeds[layer])
        torch.testing.assert_close(encoding.rotate_query(x, places(*grid)), expected, atol=1e-5, rtol=0)
        swapped = encoding.rotate_query(x, places(*grid).flip(-1))
        assert (swapped - expected).abs().max() > 0.1


@pytest.mark.parametrize(("axes", "base"), [(2, 10.0), (3, 50.0)])
def test_at_first_each_head_has_perpendicular_directions_with_the_frequencies_of_the_paper(
    axes: int, base: float
) -> None:
    encoding = MixedRotary(200, 12, axes=axes, base=base)
    each = 6 // axes
    blocks = encoding.directions.detach().unflatten(-1, (axes, each))  # (heads, axes, direction, frequency)
    sizes = [base ** (-2 * axes * j / 12) for j in range(each)]
    torch.testing.assert_close(blocks.norm(dim=1), torch.tensor(sizes).expand(200, axes, each))
    for j, size in enumerate(sizes):
        frames = blocks[..., j] / size
        torch.testing.assert_close(frames.mT @ frames, torch.eye(axes).expand(200, -1, -1), atol=1e-5, rtol=0)
        torch.testing.assert_close(torch.linalg.det(frames), torch.ones(200), atol=1e-5, rtol=0)
    spread = blocks[:, :, 0, 0].mean(dim=0)  # directions of 200 heads point everywhere
    assert spread.norm() < 0.25


def test_in_the_plane_the_second_half_is_a_quarter_turn_from_the_first_as_in_timm() -> None:
    theirs = timm_rotary().init_random_2d_freqs(8, depth=1, num_heads=50)[:, 0]
    for first in (theirs[0] + 1j * theirs[1], torch.complex(*MixedRotary(50, 8).directions.detach().unbind(1))):
        torch.testing.assert_close(first[:, 2:], first[:, :2] * 1j, atol=1e-6, rtol=0)


def test_reset_draws_anew_and_a_seed_repeats_it() -> None:
    torch.manual_seed(5)
    encoding = MixedRotary(HEADS, 8)
    first = encoding.directions.detach().clone()
    encoding.reset_parameters()
    assert not torch.equal(encoding.directions, first)
    torch.manual_seed(5)
    encoding.reset_parameters()
    assert torch.equal(encoding.directions, first)
    assert not torch.equal(first[0], first[1])


def test_gradients_of_the_directions_are_those_of_finite_differences() -> None:
    encoding = redrawn(MixedRotary(2, 4)).double()
    x, place = normal(1, 2, 3, 4).double(), scattered(5, 6, rows=1, count=3)

    def turned(directions: Tensor) -> Tensor:
        result = torch.func.functional_call(encoding, {"directions": directions}, (x, place))
        assert isinstance(result, Tensor)
        return result

    encoding.forward = encoding.rotate_query  # type: ignore[method-assign]
    assert torch.autograd.gradcheck(turned, (encoding.directions.detach().clone().requires_grad_(),))


@pytest.mark.parametrize("axis", [0, 1])
def test_a_shift_along_one_axis_leaves_scores_alone(axis: int) -> None:
    q, k, place = normal(BATCH, HEADS, 9, 8), normal(BATCH, HEADS, 9, 8, seed=2), scattered(7, 11)
    encoding, shift = redrawn(MixedRotary(HEADS, 8)), torch.eye(2, dtype=torch.int64)[axis] * 37
    still, moved = (encoding.rotate_query(q, at) @ encoding.rotate_key(k, at).mT for at in (place, place + shift))
    torch.testing.assert_close(still, moved, atol=2e-5, rtol=0)


def test_tokens_without_a_place_are_not_turned() -> None:
    x, encoding = normal(BATCH, HEADS, 2 + 15, 8), MixedRotary(HEADS, 8)
    turned = encoding.rotate_query(x, places(3, 5, prefix=2))
    assert torch.equal(turned[:, :, :2], x[:, :, :2])
    torch.testing.assert_close(turned[:, :, 2:], encoding.rotate_query(x[:, :, 2:], places(3, 5)), atol=1e-6, rtol=0)
    half_placed = encoding.rotate_query(x[:, :, :1], torch.tensor([[[-1, 0]]]))
    assert not torch.equal(half_placed, x[:, :, :1])


def test_diagonal_offsets_are_one_rotation_of_a_pair() -> None:
    """What the axial form cannot do: a pair that does not move along the diagonal, and turns across it."""
    encoding = MixedRotary(1, 4)
    with torch.no_grad():
        encoding.directions.copy_(torch.tensor([[[1.0, 0.0], [-1.0, 0.0]]]))
    x = torch.tensor([[[[1.0, 0.0, 0.0, 0.0]]]])
    along = encoding.rotate_query(x, torch.tensor([[[5, 5]]]))
    torch.testing.assert_close(along, x)
    across = encoding.rotate_query(x, torch.tensor([[[3, 1]]]))[0, 0, 0]
    assert across.tolist() == pytest.approx([math.cos(2), math.sin(2), 0, 0])


@pytest.mark.usefixtures("unchecked")
def test_impossible_options_and_shapes_are_errors() -> None:
    with pytest.raises(GnomonError, match="at least 1 head, got num_heads=0"):
        MixedRotary(0, 8)
    with pytest.raises(GnomonError, match="at least 2 axes, got axes=1; one axis takes Rotary"):
        MixedRotary(2, 8, axes=1)
    with pytest.raises(GnomonError, match="a multiple of 4, for pairs on each of 2 axes, got 10"):
        MixedRotary(2, 10)
    with pytest.raises(GnomonError, match="one of half, interleaved, got 'neox'"):
        MixedRotary(2, 8, layout="neox")  # type: ignore[arg-type]
    with pytest.raises(ShapeError, match="need 2 coordinates each"):
        MixedRotary(1, 8).rotate_query(normal(1, 1, 2, 8), torch.arange(3)[None])
    layer = Attention(32, num_heads=4, num_key_heads=2, encoding=MixedRotary(4, 8), causal=False)
    with pytest.raises(ShapeError, match=r"directions for 4 heads, the vectors have 2; .* as many key heads as heads"):
        layer(normal(1, 6, 32), places(2, 3))


@pytest.mark.usefixtures("unchecked")
def test_it_traces_into_one_graph() -> None:
    encoding, x, place = MixedRotary(HEADS, 8), normal(BATCH, HEADS, 9, 8), scattered(5, 6)
    traced = torch.compile(encoding.rotate_query, fullgraph=True, backend="eager")(x, place)
    torch.testing.assert_close(traced, encoding.rotate_query(x, place))
