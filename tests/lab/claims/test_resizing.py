"""Claims 39, 42 and 43."""

import pytest
import torch

from gnomon.encodings import Learned
from gnomon.lab.claims import resizing
from gnomon.lab.claims.resizing import DIM, table_of, tagger, with_table
from tests.helpers.claims import measure, verdict


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resizing, "TRAINED", 200)
    monkeypatch.setattr(resizing, "TUNED", 20)


def test_a_copy_with_another_table_says_the_same_where_rows_are_the_same() -> None:
    torch.manual_seed(0)
    model = tagger(Learned(4, DIM)).eval()
    larger = with_table(model, torch.cat((table_of(model), torch.zeros(3, DIM))))
    ids = torch.tensor([[1, 2, 3, 4]])
    with torch.no_grad():
        assert torch.allclose(model(ids), larger(ids))
        assert larger(torch.ones(1, 7, dtype=torch.int64)).shape == (1, 7, 8)


@pytest.mark.usefixtures("short")
def test_old_rows_that_are_kept_say_what_they_said() -> None:
    numbers = measure(39)
    assert numbers["before"] > 0.9
    assert numbers["kept, old length"] == numbers["before"]
    assert numbers["anew, old length"] < 0.5


def test_a_table_drawn_anew_is_worse_or_not() -> None:
    rest: dict[str, float | tuple[float, ...]] = dict.fromkeys(
        ("before", "anew, old length", "stretched, old length", "kept, old length"), 1.0
    )
    worse = {"anew, tuned": (0.8, 0.9), "stretched, tuned": (0.95, 0.99), "kept, tuned": (0.7, 0.9)}
    assert verdict(39, {**rest, **worse}) == "fails"
    assert verdict(39, {**rest, **worse, "anew, tuned": (0.8, 0.97)}) == "depends"


@pytest.mark.usefixtures("short")
def test_a_frozen_table_is_worse_in_places_that_were_never_trained() -> None:
    numbers = measure(42)
    assert numbers["before"] > 0.9
    assert numbers["free"] > numbers["frozen"]


def test_freezing_hurts_or_not() -> None:
    assert verdict(42, {"before": 1.0, "frozen": (0.2, 0.3), "free": (0.9, 1.0)}) == "holds"
    assert verdict(42, {"before": 1.0, "frozen": (0.9, 1.0), "free": (0.2, 0.3)}) == "fails"
    assert verdict(42, {"before": 1.0, "frozen": (0.2, 0.95), "free": (0.9, 1.0)}) == "depends"


@pytest.mark.usefixtures("short")
def test_places_beyond_training_are_lost_for_absolute_positions_alone() -> None:
    numbers = measure(43)
    assert numbers["rotary, 100 to 105"] == pytest.approx(numbers["rotary, 0 to 5"])
    assert numbers["learned, 100 to 105"] < 0.7 < numbers["learned, 0 to 5"]
    assert verdict(43, numbers) == "depends"


def test_places_beyond_training_hold_and_fail_too() -> None:
    inside = {f"{name}, 0 to 5": 1.0 for name in ("learned", "sinusoidal", "rotary")}
    lost = {f"{name}, 100 to 105": 0.2 for name in ("learned", "sinusoidal", "rotary")}
    assert verdict(43, {**inside, **lost}) == "holds"
    assert verdict(43, {**inside, **lost, "learned, 100 to 105": 1.0}) == "fails"
