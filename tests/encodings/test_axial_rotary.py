"""Axial rotary: arrangements, grids, and tokens without a place; tests/parity has the models that have each form."""

import math
from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest
import torch
from torch import Tensor

from gnomon.encodings import AxialRotary, Rotary, from_json
from gnomon.encodings.axial_rotary import reference, reference_frequency
from gnomon.encodings.frequencies import DynamicNTK, Linear, Plain, YaRN
from gnomon.errors import GnomonError, PositionError, ShapeError
from gnomon.positions import grid as places
from gnomon.testing import Reference
from tests.helpers.case import Case
from tests.helpers.mutated_encodings import AllZero, FalselyRelative, FirstRowForAll, SignFlipped, Twice, Wrapped
from tests.helpers.mutated_precision import Bfloat16Ids, LowPrecision
from tests.helpers.rotary_forms import scattered
from tests.helpers.weights import normal

BATCH, HEADS, H, W = 2, 3, 3, 5
THETA = {"rope_parameters": {"rope_type": "axial", "rope_theta": 10000.0}}


def cases() -> Iterator[Case]:
    option_sets: dict[str, dict[str, Any]] = {
        "blocks": {},
        "interleaved": {"layout": "interleaved", "order": (1, 0), "frequencies": Plain(100.0)},
        "head": {"spectrum": "head", "frequencies": Plain(100.0)},
        "alternating": {"arrangement": "alternating", "spectrum": "head", "order": [1, 0]},
        "slices": {"arrangement": "slices", "frequencies": Plain(500.0)},
        "video": {"head_dim": 14, "axes": 3, "rotary_dim": 12, "arrangement": "slices", "order": (2, 0, 1)},
        "centres": {"coordinates": "centres", "grid": (30, 40), "frequencies": Plain(100.0)},
        "corners": {"coordinates": "corners", "grid": (40, 9), "layout": "interleaved"},
        "bounded": {"grid": (8, 11), "arrangement": "alternating", "layout": "interleaved"},
    }
    for name, options in option_sets.items():
        made = AxialRotary(**{"head_dim": 8, **options})
        turned = partial(reference, **formula_options(made))
        yield Case(f"axial_rotary-{name}", made, Reference(rotate_query=turned, rotate_key=turned))


def formula_options(made: AxialRotary) -> dict[str, Any]:
    base = made.frequencies.options["base"]
    sizes = {"axes": made.axes, "rotary_dim": made.rotary_dim, "spectrum": made.spectrum, "base": base}
    each = made.rotary_dim // made.axes // 2
    shares = [[reference_frequency(rank, j, **sizes) for j in range(each)] for rank in range(made.axes)]
    names = ("order", "arrangement", "layout", "coordinates")
    return {"shares": shares, "grid": made.grid or (), **{name: getattr(made, name) for name in names}}


class OneAxis(Wrapped):
    """Turns every pair by the first coordinate."""

    def ids(self, positions: Tensor) -> Tensor:
        return positions[..., :1].expand_as(positions)


class PrefixIsAPlace(Wrapped):
    def ids(self, positions: Tensor) -> Tensor:
        return positions.clamp_min(0)


def mutations() -> list[tuple[type[Wrapped], str, set[str]]]:
    return [
        (SignFlipped, "axial_rotary-blocks", set()),
        (Twice, "axial_rotary-head", set()),
        (OneAxis, "axial_rotary-blocks", set()),
        (AllZero, "axial_rotary-slices", {"uses_position"}),
        (PrefixIsAPlace, "axial_rotary-centres", {"limit"}),
        (FalselyRelative, "axial_rotary-video", {"shift_invariance"}),
        (FirstRowForAll, "axial_rotary-alternating", {"rows_of_the_batch"}),
        (Bfloat16Ids, "axial_rotary-blocks", {"shift_invariance"}),
        (LowPrecision, "axial_rotary-interleaved", {"norms", "shift_invariance"}),
    ]


def test_golden_angles_of_one_patch() -> None:
    """Height 2 and width 3, a head of 4: one pair for each axis, both of frequency 1."""
    x = torch.tensor([[[[1.0, 1.0, 0.0, 0.0]]]])
    turned = AxialRotary(4).rotate_query(x, torch.tensor([[[2, 3]]])).flatten().tolist()
    assert turned == pytest.approx([math.cos(2), math.cos(3), math.sin(2), math.sin(3)])
    dinov3 = AxialRotary(4, coordinates="centres", grid=(4, 8)).rotate_query(x, torch.tensor([[[2, 3]]]))
    assert dinov3.flatten().tolist() == pytest.approx(
        [math.cos(math.pi / 2), math.cos(-math.pi / 4), math.sin(math.pi / 2), math.sin(-math.pi / 4)], abs=1e-6
    )


def test_along_one_axis_an_interleaved_half_of_the_head_is_rotary() -> None:
    x, along = normal(BATCH, HEADS, 6, 8), torch.arange(6) + 4
    ours = AxialRotary(8, layout="interleaved").rotate_query(x, torch.stack((along, 0 * along), dim=-1)[None])
    alone = Rotary(4, layout="interleaved").rotate_query(x[..., :4], along[None])
    torch.testing.assert_close(ours[..., :4], alone, rtol=0, atol=5e-7)  # the last bit depends on the width
    assert torch.equal(ours[..., 4:], x[..., 4:])


@pytest.mark.parametrize("options", [{}, {"coordinates": "centres", "grid": (H, W)}, {"grid": (H, W)}])
def test_tokens_without_a_place_are_not_turned(options: dict[str, Any]) -> None:
    x, encoding = normal(BATCH, HEADS, 2 + H * W, 8), AxialRotary(8, **options)
    turned = encoding.rotate_query(x, places(H, W, prefix=2))
    assert torch.equal(turned[:, :, :2], x[:, :, :2])
    assert torch.equal(turned[:, :, 2:], encoding.rotate_query(x[:, :, 2:], places(H, W)))
    half_placed = torch.tensor([[[-1, 0]]])
    if encoding.grid is None:
        assert not torch.equal(encoding.rotate_query(x[:, :, :1], half_placed), x[:, :, :1])


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("spectrum", ["share", "head"])
def test_a_shift_along_one_axis_leaves_scores_alone(axis: int, spectrum: Any) -> None:
    q, k, place = normal(BATCH, HEADS, 9, 12), normal(BATCH, HEADS, 9, 12, seed=2), scattered(7, 11)
    encoding, shift = AxialRotary(12, spectrum=spectrum), torch.eye(2, dtype=torch.int64)[axis] * 37
    still, moved = (encoding.rotate_query(q, at) @ encoding.rotate_key(k, at).mT for at in (place, place + shift))
    torch.testing.assert_close(still, moved, atol=2e-5, rtol=0)


def test_another_image_size_moves_centres_and_keeps_everything_else() -> None:
    encoding = AxialRotary(8, coordinates="centres", grid=(2, 3), order=(1, 0), frequencies=Plain(100.0))
    other = encoding.resized((4, 6))
    assert {**other.options, "grid": [2, 3]} == encoding.options
    x = normal(1, 1, 1, 8)
    # The corner between the first four small patches is the centre of the first large one.
    halves = torch.tensor([[[0, 0]]]), torch.tensor([[[1, 1]]])
    small = [encoding_angle(other, at) for at in halves]
    assert (small[0] + small[1]) / 2 == pytest.approx(encoding_angle(encoding, halves[0]))
    assert not torch.equal(encoding.rotate_query(x, halves[0]), other.rotate_query(x, halves[0]))


def encoding_angle(encoding: AxialRotary, place: Tensor) -> float:
    """The angle of the last, slowest pair, which does not wrap."""
    x = torch.zeros(1, 1, 1, 8, dtype=torch.float64)
    x[..., 3] = 1.0
    turned = encoding.rotate_query(x, place)
    return math.atan2(turned[..., 7].item(), turned[..., 3].item())


def test_frequencies_may_be_any_fixed_rule() -> None:
    x, place = normal(1, 2, 4, 8), scattered(9, 9, rows=1, count=4)
    half_steps = AxialRotary(8, frequencies=Linear(2.0)).rotate_query(x, 2 * place)
    torch.testing.assert_close(half_steps, AxialRotary(8).rotate_query(x, place), atol=1e-6, rtol=0)
    scaled = AxialRotary(8, frequencies=YaRN(4.0, 64))
    assert not scaled.norm_preserving
    assert (scaled.rotate_query(x, place).norm() / x.norm()).item() == pytest.approx(
        scaled.frequencies.attention_factor
    )


def test_json_brings_everything_back() -> None:
    encoding = AxialRotary(20, axes=3, rotary_dim=12, order=(2, 1, 0), coordinates="corners", grid=(2, 3, 4))
    again = from_json(encoding.to_json())
    assert again.options == encoding.options
    x, place = normal(1, 1, 5, 20), scattered(2, 3, 4, rows=1, count=5)
    assert torch.equal(again.rotate_query(x, place), encoding.rotate_query(x, place))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"axes": 1}, "at least 2 axes, got axes=1; one axis takes Rotary"),
        ({"head_dim": 10}, "a multiple of 4, for pairs on each of 2 axes, got 10; use partial rotary: rotary_dim=8"),
        ({"rotary_dim": 2}, "between 4 and the head width 8, got 2"),
        ({"arrangement": "mixed"}, "arrangement of AxialRotary is one of blocks, alternating, slices, got 'mixed'"),
        ({"spectrum": "axis"}, "spectrum of AxialRotary is one of share, head, got 'axis'"),
        ({"coordinates": "pixels"}, "coordinates of AxialRotary is one of index, centres, corners, got 'pixels'"),
        ({"order": (0, 2)}, r"order of 2 axes names each of 0 to 1 once, got \(0, 2\)"),
        ({"coordinates": "centres"}, "Coordinates that are centres of a grid need the grid"),
        ({"grid": (3, 4, 5)}, r"grid of 2 axes has 2 sizes of at least 1, got \(3, 4, 5\)"),
        ({"grid": (0, 4)}, r"sizes of at least 1, got \(0, 4\)"),
        ({"frequencies": DynamicNTK(2.0, 64)}, "AxialRotary takes frequencies that do not change with the length"),
    ],
    ids=lambda item: next(iter(item)) if isinstance(item, dict) else "",
)
@pytest.mark.usefixtures("unchecked")
def test_impossible_options_are_errors(options: dict[str, Any], message: str) -> None:
    with pytest.raises(GnomonError, match=message):
        AxialRotary(**{"head_dim": 8, **options})


@pytest.mark.usefixtures("unchecked")
def test_positions_that_do_not_fit_are_errors() -> None:
    x = normal(1, 1, 1, 8)
    bounded = AxialRotary(8, grid=(3, 5))
    for place, message in (
        ([3, 0], "Coordinate 3 of axis 0 .* 0 to 2"),
        ([0, -1], "Coordinate -1 of axis 1 .* 0 to 4"),
    ):
        with pytest.raises(PositionError, match=message):
            bounded.rotate_query(x, torch.tensor([[place]]))
    with pytest.raises(ShapeError, match="need 2 coordinates each"):
        bounded.rotate_query(x, torch.zeros(1, 1, 3, dtype=torch.int64))
    with pytest.raises(ShapeError, match="The heads are 8 wide but the rotary encoding is for 12"):
        AxialRotary(12).rotate_query(x, torch.zeros(1, 1, 2, dtype=torch.int64))


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize("arrangement", ["blocks", "slices"])
def test_it_traces_into_one_graph(arrangement: Any) -> None:
    encoding = AxialRotary(8, arrangement=arrangement, coordinates="centres", grid=(H, W))
    x, place = normal(2, 3, H * W, 8), places(H, W)
    traced = torch.compile(encoding.rotate_query, fullgraph=True, backend="eager")(x, place)
    torch.testing.assert_close(traced, encoding.rotate_query(x, place))
