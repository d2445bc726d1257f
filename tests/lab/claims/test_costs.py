"""Claims 25 and 37. Times are those of the machine; what is compared with them here is made up."""

import pytest

from gnomon.lab.claims import costs
from gnomon.lab.claims.costs import milliseconds
from tests.helpers.claims import measure, verdict


def test_the_shortest_of_calls_after_one_that_warms_up(monkeypatch: pytest.MonkeyPatch) -> None:
    ticks = iter([0.0, 2.0, 2.0, 5.0, 5.0, 6.0, 6.0, 8.0, 8.0, 12.0])
    monkeypatch.setattr("gnomon.lab.claims.costs.time.perf_counter", lambda: next(ticks))
    calls: list[int] = []
    assert milliseconds(lambda: calls.append(1)) == 1000.0
    assert len(calls) == 6


def test_the_rotation_costs_more_on_more_tokens() -> None:
    numbers = measure(25)
    assert numbers["ms at 2048"] > numbers["ms at 64"] > 0


def test_half_a_millisecond_holds_fails_or_depends() -> None:
    shares = {"share of the layer at 64": 0.1, "share of the layer at 2048": 0.02}
    assert verdict(25, {"ms at 64": 0.1, "ms at 2048": 0.4, **shares}) == "holds"
    assert verdict(25, {"ms at 64": 0.1, "ms at 2048": (0.4, 4.0), **shares}) == "depends"
    assert verdict(25, {"ms at 64": 0.6, "ms at 2048": 4.0, **shares}) == "fails"


def test_bytes_are_those_of_arithmetic(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(costs, "LONG", 700)
    numbers = measure(37)
    assert numbers["MB of the table"] == pytest.approx(700 * 512 * 4 / 1e6)
    assert numbers["MB of the table in half"] == pytest.approx(700 * 512 * 2 / 1e6)
    assert numbers["MB of a bias for all pairs"] == pytest.approx(8 * 700**2 * 4 / 1e6)
    assert numbers["MB of a bias as one row"] == pytest.approx(8 * 700 * 4 / 1e6)


def test_what_a_cache_saves_depends_on_what_is_large() -> None:
    rest = {"MB of the table in half": 10.0, "MB of a bias as one row": 0.3, "share of the angles in a layer": 0.001}
    assert verdict(37, {"MB of the table": 20.0, "MB of a bias for all pairs": 3200.0, **rest}) == "depends"
    assert verdict(37, {"MB of the table": 20.0, "MB of a bias for all pairs": 30.0, **rest}) == "holds"
