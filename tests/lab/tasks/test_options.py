import pytest

from gnomon.errors import GnomonError
from gnomon.lab.tasks.options import require_choice, require_share, require_whole


@pytest.mark.parametrize("bad", [0, -1, 2.0, True, "3", None])
def test_a_whole_number_is_neither_too_low_nor_of_another_kind(bad: object) -> None:
    assert require_whole("copy", "symbols", 1, 1) == 1
    with pytest.raises(GnomonError, match=r"'copy' takes symbols as a whole number of at least 1, got "):
        require_whole("copy", "symbols", bad, 1)


@pytest.mark.parametrize("bad", [-0.1, 1.1, float("nan"), float("inf"), True, "0.5", None])
def test_a_share_is_between_0_and_1(bad: object) -> None:
    assert [require_share("t", "ignore", each) for each in (0, 0.25, 1)] == [0.0, 0.25, 1.0]
    with pytest.raises(GnomonError, match=r"'t' takes ignore as a number from 0 to 1, got "):
        require_share("t", "ignore", bad)


def test_a_choice_is_one_of_those_allowed() -> None:
    assert require_choice("reverse", "form", "slots", ("answer", "slots")) == "slots"
    with pytest.raises(GnomonError, match=r"'reverse' takes form as one of 'answer', 'slots', got 'both'"):
        require_choice("reverse", "form", "both", ("answer", "slots"))
