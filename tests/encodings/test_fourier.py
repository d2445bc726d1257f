"""Fourier features: golden numbers, what bands tell apart, and the features of Perceiver, timm and NeRF."""

import math
from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest
import torch
from torch import Tensor
from transformers.models.perceiver.modeling_perceiver import PerceiverFourierPositionEncoding

from gnomon import positions
from gnomon.encodings import FourierFeatures
from gnomon.encodings.fourier import Bands, reference
from gnomon.errors import GnomonError, PositionError, ShapeError
from gnomon.testing import Reference
from tests.helpers.case import Case
from tests.helpers.mutated_encodings import (
    ClampedAtTheEnd,
    Detached,
    FirstRowForAll,
    FrozenTable,
    OffByOne,
    SignFlipped,
    Wrapped,
)
from tests.helpers.mutated_precision import FollowsAutocast, LowPrecision
from tests.helpers.peers import timm_rotary

OPTIONS: dict[str, dict[str, Any]] = {
    "linear": {"dim": 24, "grid": [9, 12], "num_bands": 5},
    "log": {"dim": 7, "grid": [40], "num_bands": 6, "bands": "log", "init_std": 0.5},
    "octaves": {"dim": 24, "grid": [8, 16, 11], "num_bands": 4, "bands": "octaves"},
}

BANDS: tuple[Bands, ...] = ("linear", "log", "octaves")


def cases() -> Iterator[Case]:
    for seed, (name, options) in enumerate(OPTIONS.items()):
        torch.manual_seed(seed)
        made = FourierFeatures(**options)
        formula = partial(
            reference, weight=made.weight.tolist(), grid=made.sizes, num_bands=made.num_bands, bands=made.bands
        )
        yield Case(f"fourier-{name}", made, Reference(embed=formula))


class SwappedCoordinates(Wrapped):
    """Height for width."""

    def ids(self, positions: Tensor) -> Tensor:
        return positions.flip(-1)


def mutations() -> list[tuple[type[Wrapped], str, set[str]]]:
    linear, log = "fourier-linear", "fourier-log"
    return [
        (SwappedCoordinates, linear, {"limit"}),
        (OffByOne, log, {"limit"}),
        (ClampedAtTheEnd, log, {"limit"}),
        (SignFlipped, linear, set()),
        (FirstRowForAll, linear, {"rows_of_the_batch"}),
        (LowPrecision, log, set()),
        (FollowsAutocast, linear, {"autocast"}),
        (FrozenTable, linear, {"gradients"}),
        (Detached, log, {"gradients"}),
    ]


def assert_equal(ours: Tensor, theirs: Tensor) -> None:
    torch.testing.assert_close(ours, theirs, atol=1e-5, rtol=0)


def test_golden_features_of_one_axis() -> None:
    features = FourierFeatures(1, grid=(9,), num_bands=2).features(torch.tensor([0, 4, 5]))
    x = [-1.0, 0.0, 0.25]
    expected = [
        [p, math.sin(math.pi * p), math.sin(4.5 * math.pi * p), math.cos(math.pi * p), math.cos(4.5 * math.pi * p)]
        for p in x
    ]
    assert_equal(features, torch.tensor(expected))


def test_bands_end_at_half_the_resolution_of_each_axis() -> None:
    linear, log = (FourierFeatures(1, grid=(10, 32), num_bands=5, bands=bands) for bands in ("linear", "log"))
    assert linear.frequencies(0) == (1.0, 2.0, 3.0, 4.0, 5.0)
    assert log.frequencies(1) == (1.0, 2.0, 4.0, 8.0, 16.0)
    assert FourierFeatures(1, grid=(10,), num_bands=4, bands="octaves").frequencies(0) == (1.0, 2.0, 4.0, 8.0)


@pytest.mark.parametrize("bands", BANDS)
def test_every_place_has_features_of_its_own(bands: Bands) -> None:
    encoding = FourierFeatures(1, grid=(6, 9), num_bands=3, bands=bands)
    features = encoding.features(positions.grid(6, 9))[0]
    assert torch.cdist(features, features).add(torch.eye(54) * 9).min() > 0.1


def test_octaves_without_the_coordinate_would_take_the_ends_for_one() -> None:
    first, last = FourierFeatures(1, grid=(9,), num_bands=3, bands="octaves").features(torch.tensor([0, 8]))
    assert_equal(first[1:], last[1:])
    assert (first[0], last[0]) == (-1.0, 1.0)


def test_tokens_without_a_place_get_nothing() -> None:
    encoding, x = FourierFeatures(6, grid=(3, 4), num_bands=2), torch.randn(1, 13, 6)
    places = positions.grid(3, 4, prefix=1)
    assert torch.equal(encoding.embed(x, places)[:, 0], x[:, 0])
    assert not encoding.features(places)[:, 0].any()


def test_an_axis_of_one_place_is_at_its_start() -> None:
    features = FourierFeatures(1, grid=(1, 3), num_bands=2, bands="octaves").features(torch.tensor([[0, 2]]))
    assert features[0, :2].tolist() == [-1.0, 1.0]


def test_linear_features_are_perceivers() -> None:
    height, width, bands = 5, 8, 6
    theirs = PerceiverFourierPositionEncoding(bands, (height, width), concat_pos=True, sine_only=False)
    expected = theirs([height, width], 2, torch.device("cpu"), torch.float32)
    ours = FourierFeatures(3, grid=(height, width), num_bands=bands).features(positions.grid(height, width))
    assert ours.shape == (1, height * width, theirs.output_size())
    assert_equal(ours.expand(2, -1, -1), expected)


@pytest.mark.parametrize("bands", ["linear", "log"])
def test_features_are_timms_in_another_order(bands: Bands) -> None:
    """timm keeps the axes apart, (x, sines, cosines) for each, and has one resolution for all of them."""
    size, count = 6, 4
    parts = timm_rotary().build_fourier_pos_embed(
        [size, size], num_bands=count, max_res=size, linear_bands=bands == "linear", include_grid=True
    )
    expected = torch.cat([part.flatten(-2) for part in parts], dim=-1).flatten(0, 1)
    ours = FourierFeatures(3, grid=(size, size), num_bands=count, bands=bands).features(positions.grid(size, size))
    assert_equal(ours[0], expected)


def test_features_match_nerfs_equation_four() -> None:
    """gamma(p): for each component sin(2^0 pi p), cos(2^0 pi p), ... sin(2^(L-1) pi p), cos(2^(L-1) pi p)."""
    encoding = FourierFeatures(1, grid=(5, 7), num_bands=4, bands="octaves")
    features = encoding.features(torch.tensor([[1, 5]]))[0]
    for axis, p in enumerate((-0.5, 2 / 3)):
        for k in range(4):
            column = 2 + axis * 4 + k
            assert features[column].item() == pytest.approx(math.sin(2**k * math.pi * p), abs=1e-6)
            assert features[column + 8].item() == pytest.approx(math.cos(2**k * math.pi * p), abs=1e-6)


def test_the_map_may_be_the_identity_and_then_the_features_are_added() -> None:
    encoding = FourierFeatures(5, grid=(4,), num_bands=2)
    encoding.load_state_dict({"weight": torch.eye(5)})
    x, ids = torch.randn(2, 4, 5), torch.arange(4)[None]
    assert_equal(encoding.embed(x, ids), x + encoding.features(ids))


def test_the_map_is_drawn_anew_with_its_own_deviation() -> None:
    encoding = FourierFeatures(64, grid=(8, 8), num_bands=20, init_std=0.3)
    before = encoding.weight.detach().clone()
    encoding.reset_parameters()
    assert not torch.equal(before, encoding.weight)
    assert encoding.weight.std().item() == pytest.approx(0.3, rel=0.05)


def test_places_outside_are_errors() -> None:
    with pytest.raises(PositionError, match=r"Position 9 is outside these Fourier features: it has positions 0 to 8"):
        FourierFeatures(4, grid=(9,)).features(torch.tensor([[9]]))
    with pytest.raises(PositionError, match=r"Coordinate 9 of axis 0 is outside the grid \(9, 12\)"):
        FourierFeatures(4, grid=(9, 12)).features(torch.tensor([[9, 0]]))


@pytest.mark.usefixtures("unchecked")
def test_another_width_is_an_error_that_names_both() -> None:
    with pytest.raises(ShapeError, match="6 wide but the Fourier features give 4 columns"):
        FourierFeatures(4, grid=(9,)).embed(torch.zeros(1, 2, 6), torch.arange(2)[None])


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"dim": 0, "grid": (3,)}, "got dim=0"),
        ({"dim": 4, "grid": (3,), "num_bands": 0}, "num_bands=0"),
        ({"dim": 4, "grid": ()}, "0 axes"),
        ({"dim": 4, "grid": (3, 0)}, r"sizes of at least 1, got \(3, 0\)"),
        ({"dim": 4, "grid": (3,), "bands": "gaussian"}, "are linear, log, octaves, got 'gaussian'"),
    ],
)
def test_impossible_options_are_errors(options: dict[str, Any], message: str) -> None:
    with pytest.raises(GnomonError, match=message):
        FourierFeatures(**options)


@pytest.mark.usefixtures("unchecked")
def test_it_traces_into_one_graph() -> None:
    encoding = FourierFeatures(5, grid=(3, 4), num_bands=3)
    x, places = torch.zeros(2, 12, 5), positions.grid(3, 4)
    traced = torch.compile(encoding.embed, fullgraph=True, backend="eager")(x, places)
    torch.testing.assert_close(traced, encoding.embed(x, places))
