"""Sinusoids on a grid: golden numbers, any shape and width, and the peers' tables, right and wrong ones."""

import math
from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest
import torch
from torch import Tensor
from transformers.models.deformable_detr.modeling_deformable_detr import DeformableDetrSinePositionEmbedding
from transformers.models.detr.modeling_detr import DetrSinePositionEmbedding
from transformers.models.omdet_turbo.modeling_omdet_turbo import OmDetTurboHybridEncoder
from transformers.models.vit_mae.modeling_vit_mae import build_2d_sinusoidal_position_embedding

from gnomon import positions
from gnomon.encodings import Sinusoidal, SinusoidalGrid
from gnomon.encodings.sinusoidal_grid import reference
from gnomon.errors import GnomonError, PositionError, ShapeError
from gnomon.testing import Reference
from tests.helpers.case import Case
from tests.helpers.mutated_encodings import FalselyRelative, FirstRowForAll, OffByOne, SignFlipped, Wrapped
from tests.helpers.mutated_precision import Bfloat16Ids, LowPrecision, PartsInBfloat16

HEIGHT, WIDTH = 3, 5

OPTIONS: dict[str, dict[str, Any]] = {
    "square": {"dim": 24},
    "width_first": {"dim": 24, "order": [1, 0], "layout": "interleaved", "base": 500.0},
    "odd": {"dim": 11, "layout": "interleaved", "base": 20.0},
    "odd_video": {"dim": 17, "axes": 3, "order": [2, 0, 1]},
    "video": {"dim": 24, "axes": 3, "layout": "interleaved"},
    "bounded": {"dim": 24, "grid": [9, 12]},
    "ends": {"dim": 24, "layout": "interleaved", "coordinates": "ends", "grid": [9, 12]},
    "centres": {"dim": 24, "axes": 3, "coordinates": "centres", "grid": [8, 10, 9]},
}


def cases() -> Iterator[Case]:
    for name, options in OPTIONS.items():
        made = SinusoidalGrid(**options)
        entry = partial(
            reference,
            widths=made.widths,
            order=made.order,
            layout=made.layout,
            base=made.base,
            coordinates=made.coordinates,
            grid=made.grid or (),
        )
        yield Case(f"sinusoidal_grid-{name}", made, Reference(embed=partial(add, entry=entry)))


def add(vector: list[float], position: list[int], entry: Any) -> list[float]:
    return [value + entry(position, column) for column, value in enumerate(vector)]


class SwappedCoordinates(Wrapped):
    """Height for width."""

    def ids(self, positions: Tensor) -> Tensor:
        return positions.flip(-1)


class PrefixAtTheOrigin(Wrapped):
    """A class token gets the vector of the first patch."""

    def ids(self, positions: Tensor) -> Tensor:
        return positions.clamp_min(0)


def mutations() -> list[tuple[type[Wrapped], str, set[str]]]:
    square, video = "sinusoidal_grid-square", "sinusoidal_grid-odd_video"
    return [
        (SwappedCoordinates, square, set()),
        (SignFlipped, video, set()),
        (OffByOne, "sinusoidal_grid-ends", {"limit"}),
        (PrefixAtTheOrigin, "sinusoidal_grid-bounded", {"limit"}),
        (FirstRowForAll, square, {"rows_of_the_batch"}),
        (LowPrecision, video, set()),
        (PartsInBfloat16, square, {"one_rounding_in_bfloat16"}),
        (Bfloat16Ids, square, {"neighbours_differ"}),
        (FalselyRelative, square, {"shift_invariance"}),
    ]


def assert_equal(ours: Tensor, theirs: Tensor) -> None:
    torch.testing.assert_close(ours, theirs, atol=1e-5, rtol=0)


def test_golden_numbers_of_width_8() -> None:
    row = SinusoidalGrid(8).table(torch.tensor([[2, 3]]))[0].tolist()
    waves = [wave(place * w) for place in (2, 3) for wave in (math.sin, math.cos) for w in (1.0, 0.01)]
    assert row == pytest.approx(waves, abs=1e-7)


def test_prefix_tokens_get_nothing_and_one_coordinate_of_minus_one_is_no_prefix() -> None:
    encoding, x = SinusoidalGrid(12), torch.randn(2, 3, 12, generator=torch.Generator().manual_seed(0))
    places = torch.tensor([[[-1, -1], [0, 0], [-1, 0]]])
    added = encoding.embed(x, places) - x
    assert torch.equal(added[:, 0], torch.zeros(2, 12))
    assert (added[:, 1:].norm(dim=-1) - math.sqrt(6)).abs().max() < 1e-5


@pytest.mark.parametrize(
    ("dim", "axes", "widths"),
    [(8, 2, (4, 4)), (10, 2, (6, 4)), (11, 2, (6, 5)), (9, 2, (4, 5)), (6, 3, (2, 2, 2)), (16, 3, (6, 6, 4))],
)
def test_columns_are_shared_in_pairs_and_no_column_is_empty(dim: int, axes: int, widths: tuple[int, ...]) -> None:
    for layout in ("half", "interleaved"):
        encoding = SinusoidalGrid(dim, axes=axes, layout=layout)  # type: ignore[arg-type]
        assert encoding.widths == widths
        assert sum(widths) == dim
        table = encoding.table(positions.grid(*(4,) * axes)[0])
        assert (table.std(0) > 0).all()


def test_each_axis_is_a_plain_sinusoid_of_its_own_coordinate() -> None:
    places = positions.grid(2, 3, 4)
    table = SinusoidalGrid(20, axes=3, order=(2, 0, 1), layout="interleaved").table(places)
    for columns, axis in zip(table.split((8, 6, 6), dim=-1), (2, 0, 1), strict=True):
        assert_equal(columns, Sinusoidal(columns.shape[-1]).table(places[..., axis]))


@pytest.mark.parametrize("coordinates", ["ends", "centres"])
def test_equal_shares_of_images_of_two_sizes_look_alike(coordinates: Any) -> None:
    small = SinusoidalGrid(12, coordinates=coordinates, grid=(3, 5))
    large = small.resized((9, 15))
    assert large.grid == (9, 15)
    at = torch.tensor([[1, 3]])
    same = 3 * at + (2 if coordinates == "ends" else 1)
    assert_equal(large.table(same), small.table(at))


def test_width_first_is_mae_on_any_shape() -> None:
    """transformers swaps the halves when it fills the table, as MAE itself was trained."""
    theirs = build_2d_sinusoidal_position_embedding(HEIGHT, WIDTH, 24, cls_token=True)
    places = positions.grid(HEIGHT, WIDTH, prefix=1)[0]
    assert_equal(SinusoidalGrid(24).table(places), theirs)
    assert_equal(SinusoidalGrid(24, order=(1, 0)).table(places), theirs.roll(12, -1))


@pytest.mark.parametrize(
    ("theirs", "coordinates"), [(DetrSinePositionEmbedding, "ends"), (DeformableDetrSinePositionEmbedding, "centres")]
)
def test_normalised_coordinates_are_those_of_detr(theirs: Any, coordinates: Any) -> None:
    table = theirs.build_sine_position_embedding(
        (1, 7, HEIGHT, WIDTH), "cpu", torch.float32, num_position_features=12, normalize=True, scale=2 * math.pi
    )
    ours = SinusoidalGrid(24, layout="interleaved", coordinates=coordinates, grid=(HEIGHT, WIDTH))
    assert_equal(ours.table(positions.grid(HEIGHT, WIDTH)[0]), table[0].flatten(1).T)


def test_omdet_turbo_gives_the_patches_of_wide_images_each_others_places() -> None:
    """Its table runs down columns, its patches along rows: huggingface/transformers#41380 mended RT-DETR, not this."""
    build = OmDetTurboHybridEncoder.build_2d_sincos_position_embedding
    ours = SinusoidalGrid(24, order=(1, 0))
    along_rows = ours.table(positions.grid(HEIGHT, WIDTH))
    theirs = build(WIDTH, HEIGHT, 24)
    assert_equal(along_rows.unflatten(1, (HEIGHT, WIDTH)).transpose(1, 2).flatten(1, 2), theirs)
    wrong = (along_rows - theirs).abs().amax(-1) > 1e-3
    assert wrong.sum() == HEIGHT * WIDTH - 3  # the corners and the middle alone have their own place
    square = ours.table(positions.grid(4, 4)).unflatten(1, (4, 4)).transpose(1, 2).flatten(1, 2)
    assert_equal(square, build(4, 4, 24))


def test_places_outside_a_grid_are_errors() -> None:
    with pytest.raises(PositionError, match=r"Coordinate 5 of axis 1 .* 0 to 4"):
        SinusoidalGrid(8, grid=(9, 5)).table(torch.tensor([[8, 5]]))


@pytest.mark.usefixtures("unchecked")
def test_positions_without_coordinates_are_an_error() -> None:
    with pytest.raises(ShapeError, match="need 2 coordinates each"):
        SinusoidalGrid(8).embed(torch.zeros(1, 3, 8), torch.arange(3)[None])
    with pytest.raises(ShapeError, match="6 wide but the sinusoids are 8 wide"):
        SinusoidalGrid(8).embed(torch.zeros(1, 3, 6), torch.zeros(1, 3, 2, dtype=torch.int64))


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"dim": 3}, "dim=4, got dim=3"),
        ({"dim": 8, "axes": 1}, "at least 2 axes, got axes=1; one axis takes Sinusoidal"),
        ({"dim": 8, "order": (0, 0)}, r"names each of 0 to 1 once, got \(0, 0\)"),
        ({"dim": 8, "layout": "split"}, "one of half, interleaved, got 'split'"),
        ({"dim": 8, "base": 1.0}, "above 1, got 1.0"),
        ({"dim": 8, "coordinates": "corners"}, "one of index, ends, centres, got 'corners'"),
        ({"dim": 8, "coordinates": "ends"}, "ends of a grid need the grid"),
        ({"dim": 8, "grid": (3, 4, 5)}, r"2 sizes of at least 1, got \(3, 4, 5\)"),
        ({"dim": 8, "grid": (3, 0)}, r"got \(3, 0\)"),
    ],
)
def test_impossible_options_are_errors(options: dict[str, Any], message: str) -> None:
    with pytest.raises(GnomonError, match=message):
        SinusoidalGrid(**options)


@pytest.mark.usefixtures("unchecked")
def test_it_traces_into_one_graph() -> None:
    encoding = SinusoidalGrid(11, coordinates="ends", grid=(3, 4))
    x, places = torch.zeros(2, 12, 11), positions.grid(3, 4)
    traced = torch.compile(encoding.embed, fullgraph=True, backend="eager")(x, places)
    torch.testing.assert_close(traced, encoding.embed(x, places))
