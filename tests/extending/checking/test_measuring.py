import pytest

from gnomon.extending.checking.measuring import Meter


def test_the_time_left_is_told_by_the_pace_so_far(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr("gnomon.extending.checking.measuring.time.monotonic", lambda: now[0])
    told: list[tuple[int, int, str]] = []
    meter = Meter(1000, lambda *what: told.append(what))
    meter.tell("first")
    meter.add(250)
    now[0] = 110.0
    meter.tell("second")
    meter.add(250)
    now[0] = 500.0
    meter.tell("third")
    assert told == [(0, 1000, "first"), (250, 1000, "second; about 30 s left"), (500, 1000, "third; about 7 min left")]
    assert (meter.read, meter.seconds) == (500, 400.0)


def test_nothing_is_told_where_nobody_listens() -> None:
    meter = Meter(10, None)
    meter.tell("nothing")
    assert meter.read == 0
