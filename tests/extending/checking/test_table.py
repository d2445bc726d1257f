import math

from gnomon.extending.checking.noise import Change
from gnomon.extending.checking.passkeys import Recall
from gnomon.extending.checking.results import AtLength, Checked, Keys, Models, Position
from gnomon.extending.checking.table import as_text

CHECKED = Checked(
    Models("old\x1b[31m", "new", "causal", 64, None),
    16,
    (
        AtLength(
            64,
            3,
            Change(1.0, 2.0, 0.25, 9),
            Change(None, None),
            positions=(Position(0, 8, 3.0, None), Position(8, 63, 1.5, 1.25)),
        ),
    ),
    (Keys(64, None, (Recall(0.5, True, 1.0, 0.1),)),),
    tokens=999,
    seconds=3.2,
)


def test_losses_are_shown_as_perplexities_and_their_change_in_nats() -> None:
    [row] = [line for line in as_text(CHECKED).splitlines() if line.split()[:2] == ["64", "3"]]
    assert row.split() == ["64", "3", f"{math.e:.2f}", f"{math.e**2:.2f}", "+1.0000", "0.2500", "-", "-", "-", "-"]


def test_places_keys_and_cost_are_in_the_text() -> None:
    lines = as_text(CHECKED).splitlines()
    assert ["0-7", "3.000", "-"] in [line.split() for line in lines]
    assert ["64", "50%", "-", "-", "found", "1.0"] in [line.split() for line in lines]
    assert lines[-1] == "999 tokens read in 3 s."


def test_the_text_is_fit_for_a_terminal() -> None:
    text = str(CHECKED)
    assert "\x1b" not in text
    assert max(map(len, text.splitlines())) <= 100
    assert "(no stated length)" in text
