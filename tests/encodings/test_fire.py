"""FIRE: the share of the query's position, the learned threshold, and gradients of every parameter."""

import math

import pytest
import torch
from torch import nn

from gnomon.encodings import FIRE
from gnomon.errors import GnomonError
from tests.helpers.bias_encodings import bias_formula
from tests.helpers.weights import redraw


def identity(encoding: FIRE) -> FIRE:
    """The network made to pass its input on, so that the bias is the share itself."""
    with torch.no_grad():
        for parameter in (*encoding.hidden.parameters(), *encoding.output.parameters()):
            parameter.zero_()
        encoding.hidden.weight[0, 0] = 1.0
        encoding.output.weight[:, 0] = 1.0
    return encoding


def drawn(encoding: FIRE, seed: int = 0) -> FIRE:
    redraw(encoding, std=0.7, seed=seed)
    return encoding


def share(encoding: FIRE, query: int, key: int) -> float:
    return identity(encoding).bias(torch.tensor([[query]]), torch.tensor([[key]]))[0, 0, 0, 0].item()


def test_the_share_is_log_distance_over_log_position() -> None:
    assert share(FIRE(1, threshold=10, initial_c=1), 1023, 0) == pytest.approx(1.0, abs=1e-6)
    assert share(FIRE(1, threshold=10, initial_c=1), 1023, 992) == pytest.approx(0.5, abs=1e-6)  # ln 32 / ln 1024
    assert share(FIRE(1, threshold=10, initial_c=1), 1023, 1023) == 0.0
    assert share(FIRE(1, threshold=10, initial_c=0.1), 1000, 900) == pytest.approx(math.log(11) / math.log(101))


def test_the_threshold_holds_up_the_denominator_of_early_queries() -> None:
    assert share(FIRE(1, threshold=1023, initial_c=1), 31, 0) == pytest.approx(0.5, abs=1e-6)
    assert share(FIRE(1, threshold=1023, initial_c=1), 0, 0) == 0.0


def test_the_learned_multiplier_moves_the_threshold() -> None:
    encoding = FIRE(1, threshold=93, initial_c=1)
    nn.init.constant_(encoding.multiplier, 11.0)
    assert share(encoding, 31, 0) == pytest.approx(0.5, abs=1e-6)


def test_the_denominator_follows_the_query_and_not_the_key() -> None:
    """Equal distances: the later the query, the smaller the share."""
    encoding = FIRE(1, threshold=4)
    shares = [share(encoding, query, query - 4) for query in (8, 64, 512)]
    expected = [math.log(1.4) / math.log(1 + 0.1 * query) for query in (8, 64, 512)]
    assert shares == pytest.approx(expected, rel=1e-5)


def test_a_shift_of_all_positions_changes_the_bias() -> None:
    encoding, place = drawn(FIRE(2, threshold=8)), torch.arange(12)[None]
    assert not encoding.relative
    assert (encoding.bias(place + 50, place + 50) - encoding.bias(place, place)).abs().max() > 0.05


def test_queries_are_rows_keys_are_columns_and_every_batch_row_has_its_own() -> None:
    encoding = drawn(FIRE(3, hidden_dim=4, threshold=5))
    queries, keys = torch.tensor([[70, 3]]), torch.tensor([[1, 7, 64], [0, 2, 9]])
    bias, formula = encoding.bias(queries, keys), bias_formula(encoding)
    assert bias.shape == (2, 3, 2, 3)
    for row, head in ((0, 0), (0, 2), (1, 1)):
        expected = [[formula(head, i, j) for j in keys[row].tolist()] for i in (70, 3)]
        torch.testing.assert_close(
            bias[row, head].double(), torch.tensor(expected, dtype=torch.float64), atol=1e-6, rtol=0
        )


def test_the_last_bias_of_the_network_is_in_every_number() -> None:
    encoding, at = drawn(FIRE(2)), torch.tensor([[3]])
    before = encoding.bias(at, at)
    with torch.no_grad():
        encoding.output.bias.add_(torch.tensor([1.0, -2.0]))
    torch.testing.assert_close(encoding.bias(at, at) - before, torch.tensor([1.0, -2.0])[None, :, None, None])


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_gradients_of_every_parameter_are_the_slopes_of_the_formula(seed: int) -> None:
    encoding = drawn(FIRE(2, hidden_dim=3, threshold=20), seed).double()
    queries, keys = torch.tensor([[3, 19, 60]]), torch.tensor([[0, 2, 17, 48]])
    encoding.bias(queries, keys).sum().backward()

    def total() -> float:
        formula = bias_formula(encoding)
        return sum(formula(h, i, j) for h in range(2) for i in queries[0].tolist() for j in keys[0].tolist())

    for name, parameter in encoding.named_parameters():
        assert parameter.grad is not None
        for index in range(parameter.numel()):
            held = parameter.data.view(-1)
            middle = held[index].item()
            ends = []
            for step in (1e-6, -1e-6):
                held[index] = middle + step
                ends.append(total())
            held[index] = middle
            slope = (ends[0] - ends[1]) / 2e-6
            assert parameter.grad.view(-1)[index].item() == pytest.approx(slope, rel=1e-4, abs=1e-4), (name, index)


def test_the_negative_of_c_or_of_the_multiplier_is_the_same_encoding() -> None:
    encoding, place = drawn(FIRE(2, threshold=20)), torch.arange(40)[None]
    before = encoding.bias(place, place)
    with torch.no_grad():
        encoding.c.neg_()
        encoding.multiplier.neg_()
    assert torch.equal(encoding.bias(place, place), before)


@pytest.mark.parametrize("name", ["c", "multiplier"])
def test_a_parameter_at_zero_gives_finite_numbers_and_gradients(name: str) -> None:
    encoding, place = drawn(FIRE(2)), torch.arange(9)[None]
    nn.init.zeros_(encoding.get_parameter(name))
    bias = encoding.bias(place, place)
    bias.sum().backward()
    assert bool(bias.isfinite().all())
    for parameter in encoding.parameters():
        assert parameter.grad is not None
        assert bool(parameter.grad.isfinite().all())


def test_it_starts_where_the_published_code_starts() -> None:
    encoding = FIRE(4)
    assert encoding.c.item() == pytest.approx(0.1)
    assert (encoding.multiplier.item(), encoding.threshold, encoding.hidden.weight.shape) == (1.0, 512.0, (32, 1))
    assert (encoding.causal_only, encoding.learned) == (True, True)
    moved = drawn(FIRE(4))
    moved.reset_parameters()
    assert moved.c.item() == pytest.approx(0.1)
    assert moved.hidden.weight.abs().max().item() <= 1.0


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"num_heads": 0}, "at least 1 head, got num_heads=0"),
        ({"num_heads": 2, "hidden_dim": 0}, "hidden_dim of at least 1, got 0"),
        ({"num_heads": 2, "threshold": 0.0}, "above 0, got 0.0 and 0.1"),
        ({"num_heads": 2, "threshold": math.inf}, "above 0, got inf"),
        ({"num_heads": 2, "initial_c": -1.0}, "above 0, got 512.0 and -1.0"),
        ({"num_heads": 2, "initial_c": math.nan}, "above 0, got 512.0 and nan"),
    ],
)
def test_impossible_options_are_errors(options: dict[str, float], said: str) -> None:
    with pytest.raises(GnomonError, match=said):
        FIRE(**options)  # type: ignore[arg-type]


@pytest.mark.usefixtures("unchecked")
def test_it_traces_into_one_graph_under_autocast_too() -> None:
    encoding, positions = FIRE(3), torch.tensor([[2, 3, 9]])
    traced = torch.compile(encoding.bias, fullgraph=True, backend="eager")
    torch.testing.assert_close(traced(positions, positions), encoding.bias(positions, positions))
    with torch.autocast("cpu", dtype=torch.bfloat16):
        torch.testing.assert_close(traced(positions, positions), encoding.bias(positions, positions))


def test_it_runs_on_the_meta_device() -> None:
    with torch.device("meta"):
        encoding, positions = FIRE(3), torch.arange(7)[None]
        assert encoding.bias(positions[:, -1:], positions).shape == (1, 3, 1, 7)
