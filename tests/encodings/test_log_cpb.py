"""Log-spaced continuous bias: numbers by hand, Swin v2 in transformers on oblong windows, and gradients."""

import math
from collections.abc import Iterator

import pytest
import torch
from torch import Tensor
from transformers import Swinv2Config
from transformers.models.swinv2.modeling_swinv2 import Swinv2SelfAttention

from gnomon.encodings import LogCPB
from gnomon.encodings.log_cpb import reference
from gnomon.errors import GnomonError, PositionError
from gnomon.positions import grid as places
from gnomon.testing import Reference
from tests.helpers.case import Case
from tests.helpers.mutated_encodings import AllZero, FrozenTable, SignFlipped, SwappedAxes, Wrapped
from tests.helpers.mutated_precision import BiasFollowsAutocast
from tests.helpers.weights import redraw

OBLONG, ENLARGED = "log_cpb-5-7", "log_cpb-6-4-from-3-3"


def drawn(encoding: LogCPB) -> LogCPB:
    redraw(encoding, std=0.7)
    return encoding


def formula(encoding: LogCPB, head: int, query: list[int], key: list[int]) -> float:
    first = list(zip(encoding.hidden.weight.tolist(), encoding.hidden.bias.tolist(), strict=True))
    second = encoding.output.weight[head].tolist()
    trained = encoding.pretrained_window or encoding.grid
    return reference(query, key, trained=trained, first=first, second=second)


def cases() -> Iterator[Case]:
    for name, window, trained in (
        (OBLONG, (5, 7), None),
        (ENLARGED, (6, 4), (3, 3)),
        ("log_cpb-3-5-4", (3, 5, 4), None),
    ):
        made = drawn(LogCPB(6, window=window, pretrained_window=trained, hidden_dim=5))

        def bias(head: int, query: list[int], key: list[int], made: LogCPB = made) -> float:
            return formula(made, head, query, key)

        yield Case(name, made, Reference(bias=bias))


def mutations() -> list[tuple[type[Wrapped], str, set[str]]]:
    return [
        (SignFlipped, OBLONG, set()),
        (SwappedAxes, ENLARGED, set()),  # offsets key - query
        (AllZero, OBLONG, {"uses_position", "gradients"}),
        (FrozenTable, OBLONG, {"gradients"}),
        (BiasFollowsAutocast, ENLARGED, {"autocast"}),
    ]


def test_the_coordinates_are_log_spaced_and_reach_past_one() -> None:
    """The ends of the window are log2(9) / log2(8); one step of a window of 8 places is log2(1 + 8/7) / 3."""
    coordinates = LogCPB(1, window=(8, 2)).coordinates()
    assert coordinates.shape == (45, 2)
    assert coordinates[0].tolist() == pytest.approx([-1.0566417, -1.0566417], abs=1e-6)
    assert coordinates[22].tolist() == [0.0, 0.0]
    assert coordinates[25].tolist() == pytest.approx([math.log2(15 / 7) / 3, 0.0], abs=1e-6)  # one step down
    assert coordinates[23].tolist() == pytest.approx([0.0, 1.0566417], abs=1e-6)  # one step right


def test_a_pretrained_window_keeps_its_own_scale() -> None:
    trained = LogCPB(1, window=(4, 3)).coordinates()
    larger = LogCPB(1, window=(6, 5), pretrained_window=(4, 3)).coordinates().reshape(11, 9, 2)
    torch.testing.assert_close(larger[2:-2, 2:-2].reshape(-1, 2), trained, rtol=0, atol=1e-7)
    assert larger.max() > trained.max()


def swin(window: tuple[int, int], trained: tuple[int, int]) -> Swinv2SelfAttention:
    theirs = Swinv2SelfAttention(Swinv2Config(), 24, 3, window, trained)
    redraw(theirs, std=0.5)
    return theirs


def bias_of(theirs: Swinv2SelfAttention) -> Tensor:
    """What its forward adds to the logits, from its own network, table of coordinates and index."""
    area = theirs.window_size[0] * theirs.window_size[1]
    table: Tensor = theirs.continuous_position_bias_mlp(theirs.relative_coords_table).view(-1, 3)
    return 16 * table[theirs.relative_position_index.view(-1)].view(area, area, 3).permute(2, 0, 1).sigmoid()


@pytest.mark.parametrize(
    ("window", "trained"), [((3, 5), (0, 0)), ((5, 3), (0, 0)), ((4, 7), (3, 5)), ((2, 2), (0, 0)), ((6, 6), (3, 3))]
)
def test_a_network_from_a_checkpoint_gives_the_bias_of_swin_v2(
    window: tuple[int, int], trained: tuple[int, int]
) -> None:
    theirs = swin(window, trained)
    ours = LogCPB(3, window=window, pretrained_window=trained if trained[0] else None)
    names = {"0.weight": "hidden.weight", "0.bias": "hidden.bias", "2.weight": "output.weight"}
    state = theirs.continuous_position_bias_mlp.state_dict()
    ours.load_state_dict({names[name]: value for name, value in state.items()})
    place = places(*window)
    torch.testing.assert_close(ours.bias(place, place)[0], bias_of(theirs), rtol=0, atol=1e-5)


def test_an_axis_of_one_place_is_finite_where_transformers_divides_zero_by_zero() -> None:
    assert bool(swin((3, 1), (0, 0)).relative_coords_table.isnan().any())
    encoding, place = drawn(LogCPB(2, window=(3, 1), hidden_dim=4)), places(3, 1)
    bias, rows = encoding.bias(place, place), place[0].tolist()
    for head in range(2):
        want = [[formula(encoding, head, i, j) for j in rows] for i in rows]
        torch.testing.assert_close(bias[0, head], torch.tensor(want), rtol=0, atol=1e-5)


def test_the_bias_lies_between_zero_and_sixteen_and_is_zero_for_tokens_without_a_place() -> None:
    encoding, place = drawn(LogCPB(2, window=(3, 4))), places(3, 4, prefix=1)
    bias = encoding.bias(place, place)
    assert not bias[:, :, 0].any()
    assert not bias[..., 0].any()
    patches = bias[:, :, 1:, 1:]
    assert 0 < patches.min() < 2
    assert 12 < patches.max() < 16


def test_gradients_are_the_slopes_of_the_formula() -> None:
    encoding, place = drawn(LogCPB(2, window=(2, 3), hidden_dim=3)).double(), places(2, 3)
    weights = torch.linspace(-1, 1, 72, dtype=torch.float64).reshape(1, 2, 6, 6)
    (encoding.bias(place, place) * weights).sum().backward()
    rows = place[0].tolist()

    def total() -> float:
        return sum(
            weights[0, head, i, j].item() * formula(encoding, head, rows[i], rows[j])
            for head in range(2)
            for i in range(6)
            for j in range(6)
        )

    for name, parameter in encoding.named_parameters():
        assert parameter.grad is not None
        held = parameter.data.view(-1)
        for index in (0, held.numel() - 1):
            middle, ends = held[index].item(), []
            for step in (1e-6, -1e-6):
                held[index] = middle + step
                ends.append(total())
            held[index] = middle
            slope = (ends[0] - ends[1]) / 2e-6
            assert parameter.grad.view(-1)[index].item() == pytest.approx(slope, rel=1e-4, abs=1e-4), name


@pytest.mark.parametrize(
    ("options", "error", "said"),
    [
        ({"num_heads": 0}, GnomonError, "LogCPB needs at least 1 head"),
        ({"hidden_dim": 0}, GnomonError, "hidden_dim of at least 1, got 0"),
        ({"pretrained_window": (3,)}, GnomonError, r"axis of the window \(3, 5\), got \(3,\)"),
        ({"pretrained_window": (1, 4)}, GnomonError, r"at least 2 .* got \(1, 4\)"),
        ({"window": (3, 0)}, GnomonError, "at least 1 each"),
    ],
)
def test_impossible_options_are_errors(options: dict[str, object], error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        LogCPB(**{"num_heads": 2, "window": (3, 5), **options})  # type: ignore[arg-type]


def test_coordinates_outside_the_window_are_errors_in_a_larger_pretrained_window_too() -> None:
    with pytest.raises(PositionError, match="Coordinate 3 of axis 0"):
        LogCPB(2, window=(3, 5), pretrained_window=(9, 9)).bias(places(4, 5), places(3, 5))


def test_it_starts_where_swin_v2_starts() -> None:
    torch.manual_seed(0)
    encoding = LogCPB(64, window=(3, 5))
    assert not encoding.hidden.bias.any()
    assert encoding.output.weight.std().item() == pytest.approx(0.02, rel=0.03)
    assert sum(parameter.numel() for parameter in encoding.parameters()) == 512 * (2 + 1 + 64)


@pytest.mark.usefixtures("unchecked")
def test_it_traces_into_one_graph_under_autocast_too() -> None:
    encoding, place = drawn(LogCPB(3, window=(2, 3), hidden_dim=4)), places(2, 3)
    traced = torch.compile(encoding.bias, fullgraph=True, backend="eager")
    torch.testing.assert_close(traced(place, place), encoding.bias(place, place))
    with torch.autocast("cpu", dtype=torch.bfloat16):
        torch.testing.assert_close(traced(place, place), encoding.bias(place, place))
