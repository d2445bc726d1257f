"""Window tables: the rows of Swin and BEiT on oblong windows, class tokens, resizing, and what lies outside."""

from collections.abc import Iterator
from functools import partial

import pytest
import torch
from torch import Tensor, nn
from transformers import BeitConfig
from transformers.models.beit.modeling_beit import BeitRelativePositionBias
from transformers.models.swin.modeling_swin import SwinRelativePositionBias

from gnomon.encodings import WindowBias
from gnomon.encodings.window_bias import reference
from gnomon.errors import GnomonError, PositionError
from gnomon.positions import grid as places
from gnomon.testing import Reference
from tests.helpers.case import Case
from tests.helpers.mutated_encodings import AllZero, FalselyRelative, FrozenTable, SignFlipped, SwappedAxes, Wrapped
from tests.helpers.mutated_precision import BiasFollowsAutocast
from tests.helpers.weights import redraw

OBLONG, DEEP = "window_bias-5-7", "window_bias-3-5-4"


def drawn(encoding: WindowBias) -> WindowBias:
    redraw(encoding, std=1.0)
    return encoding


def cases() -> Iterator[Case]:
    for window, prefix in (((5, 7), False), ((6, 3), True), ((3, 5, 4), False)):
        made = drawn(WindowBias(6, window=window, prefix=prefix))
        bias = partial(reference, table=made.weight.tolist(), window=window)
        yield Case(f"window_bias-{'-'.join(map(str, window))}", made, Reference(bias=bias))


class ClampsToTheGrid(Wrapped):
    def ids(self, positions: Tensor) -> Tensor:
        return positions.clamp(torch.tensor(-1), torch.tensor(self.grid) - 1)


class ForgetsAnAxis(Wrapped):
    def ids(self, positions: Tensor) -> Tensor:
        return torch.cat((positions[..., :1], 0 * positions[..., 1:]), dim=-1)


def mutations() -> list[tuple[type[Wrapped], str, set[str]]]:
    return [
        (SignFlipped, OBLONG, set()),
        (SwappedAxes, OBLONG, set()),  # offsets key - query
        (ForgetsAnAxis, OBLONG, {"limit"}),
        (ForgetsAnAxis, DEEP, set()),
        (ClampsToTheGrid, OBLONG, {"limit"}),
        (AllZero, OBLONG, {"uses_position", "gradients"}),
        (FalselyRelative, DEEP, {"shift_invariance"}),
        (FrozenTable, DEEP, {"gradients"}),
        (BiasFollowsAutocast, OBLONG, {"autocast"}),
    ]


@pytest.mark.parametrize("window", [(3, 5), (5, 3), (1, 4), (4, 4)])
def test_a_table_from_a_checkpoint_gives_the_bias_of_swin(window: tuple[int, int]) -> None:
    theirs = SwinRelativePositionBias(3, window)
    redraw(theirs, std=1.0)
    ours = WindowBias(3, window=window)
    ours.load_state_dict({"weight": theirs.relative_position_bias_table})
    assert torch.equal(ours.bias(places(*window), places(*window)), theirs())


def beit(window: tuple[int, int], heads: int = 4) -> BeitRelativePositionBias:
    config = BeitConfig(
        image_size=(window[0] * 2, window[1] * 2), patch_size=2, hidden_size=8 * heads, num_attention_heads=heads
    )
    theirs = BeitRelativePositionBias(config)
    redraw(theirs, std=1.0)
    return theirs


def like(theirs: BeitRelativePositionBias) -> WindowBias:
    ours = WindowBias(4, window=theirs.window_size, prefix=True)
    ours.load_state_dict({"weight": theirs.relative_position_bias_table})
    return ours


def test_a_table_from_a_checkpoint_gives_the_bias_of_beit() -> None:
    theirs = beit((4, 4))
    place = places(4, 4, prefix=1)
    torch.testing.assert_close(like(theirs).bias(place, place), theirs((4, 4)), rtol=0, atol=1e-6)


def test_rows_for_oblong_windows_are_those_that_beit_counts() -> None:
    """Its forward reads an oblong table with height and width exchanged, so the result is off by the size of a bias."""
    window = (3, 5)
    theirs, place = beit(window), places(*window, prefix=1)
    index = BeitRelativePositionBias.generate_relative_position_index(window)
    ours = like(theirs).bias(place, place)
    assert torch.equal(ours[0], theirs.relative_position_bias_table[index].permute(2, 0, 1))
    assert (ours - theirs(window)).abs().max() > 1


def test_a_resized_table_is_what_beit_computes_for_a_larger_image() -> None:
    theirs = beit((4, 4))
    for window in ((6, 6), (5, 8), (3, 2)):
        place = places(*window, prefix=1)
        resized = like(theirs).resized(window)
        torch.testing.assert_close(resized.bias(place, place), theirs(window), rtol=0, atol=2e-6)
        assert resized.options == {"num_heads": 4, "window": list(window), "prefix": True}


def test_resizing_keeps_dtype_and_the_original_and_refuses_other_axes() -> None:
    encoding = drawn(WindowBias(2, window=(3, 5))).bfloat16()
    before = encoding.weight.clone()
    resized = encoding.resized((3, 5))
    assert resized.weight.dtype == torch.bfloat16
    assert torch.equal(resized.weight, before)
    nn.init.zeros_(resized.weight)
    assert torch.equal(encoding.weight, before)
    with pytest.raises(GnomonError, match=r"two axes can be resized, got \(3, 5\) and \(2, 3, 5\)"):
        encoding.resized((2, 3, 5))


@pytest.mark.parametrize("prefix", [True, False])
def test_every_pair_of_patches_and_class_tokens_equals_the_formula(prefix: bool) -> None:
    encoding = drawn(WindowBias(2, window=(2, 3), prefix=prefix))
    place, table = places(2, 3, prefix=2), encoding.weight.tolist()
    bias = encoding.bias(place, place)
    rows = place[0].tolist()
    for head in range(2):
        want = [[reference(head, i, j, table=table, window=(2, 3)) for j in rows] for i in rows]
        assert bias[0, head].tolist() == want
    assert bool(bias[..., :2].any()) == prefix


def test_the_three_rows_of_class_tokens_get_their_own_gradients() -> None:
    encoding, place = drawn(WindowBias(1, window=(2, 3), prefix=True)), places(2, 3, prefix=1)
    weights = torch.arange(1.0, 50.0).reshape(1, 1, 7, 7)
    (encoding.bias(place, place) * weights).sum().backward()
    assert encoding.weight.grad is not None
    to_patches, to_class, alone = encoding.weight.grad[-3:, 0].tolist()
    assert (to_patches, to_class, alone) == (weights[..., 0, 1:].sum(), weights[..., 1:, 0].sum(), 1.0)


def test_every_row_of_the_batch_has_its_own_queries_and_keys() -> None:
    encoding = drawn(WindowBias(3, window=(4, 6), prefix=True))
    queries = torch.tensor([[[3, 5], [0, 2]]])
    keys = torch.tensor([[[1, 4], [3, 5], [2, 0]], [[0, 2], [-1, -1], [3, 1]]])
    bias, table = encoding.bias(queries, keys), encoding.weight.tolist()
    for row, i, j in ((0, 0, 0), (0, 1, 2), (1, 0, 2), (1, 1, 1)):
        query, key = queries[0, i].tolist(), keys[row, j].tolist()
        want = [reference(head, query, key, table=table, window=(4, 6)) for head in range(3)]
        assert bias[row, :, i, j].tolist() == want


@pytest.mark.parametrize(
    ("place", "said"),
    [
        ([3, 0], r"Coordinate 3 of axis 0 is outside the window \(3, 5\): that axis has 0 to 2"),
        ([0, 5], "Coordinate 5 of axis 1"),
        ([-1, 2], "Coordinate -1 of axis 0"),
        ([-2, -2], "Coordinate -2 of axis 0"),
    ],
)
def test_coordinates_outside_the_window_are_errors(place: list[int], said: str) -> None:
    outside = torch.tensor([[[0, 0], place]])
    for ends in ((outside, places(3, 5)), (places(3, 5), outside)):
        with pytest.raises(PositionError, match=said):
            WindowBias(2, window=(3, 5)).bias(*ends)
        with pytest.raises(PositionError, match=said):
            WindowBias(2, window=(3, 5)).score_mod(*ends)


@pytest.mark.parametrize("window", [(7,), (0, 7), ()])
def test_impossible_windows_are_errors(window: tuple[int, ...]) -> None:
    with pytest.raises(GnomonError, match="at least 1 each, got"):
        WindowBias(2, window=window)


def test_no_heads_is_an_error_and_a_fresh_table_has_the_stated_spread() -> None:
    with pytest.raises(GnomonError, match="WindowBias needs at least 1 head, got num_heads=0"):
        WindowBias(0)
    torch.manual_seed(0)
    assert WindowBias(64, window=(9, 9)).weight.std().item() == pytest.approx(0.02, rel=0.03)


@pytest.mark.usefixtures("unchecked")
def test_it_traces_into_one_graph() -> None:
    encoding, place = drawn(WindowBias(3, window=(2, 3), prefix=True)), places(2, 3, prefix=1)
    traced = torch.compile(encoding.bias, fullgraph=True, backend="eager")(place, place)
    torch.testing.assert_close(traced, encoding.bias(place, place))
