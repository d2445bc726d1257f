"""Numbers in few letters."""

import pytest

from gnomon.report.resolved.document import VERDICTS
from gnomon.report.resolved.layers import Effect, Frequencies, Layer
from gnomon.report.resolved.words import MARKS, VERDICT_WORDS, effect_word, number_word, slowed


@pytest.mark.parametrize(
    ("value", "word"),
    [
        (None, "-"),
        (1.0, "1"),
        (1e6, "1,000,000"),
        (1e9, "1e+09"),
        (114687.4, "114,687"),
        (0.12345678, "0.12346"),
        (4.0, "4"),
    ],
)
def test_numbers(value: float | None, word: str) -> None:
    assert number_word(value) == word


def test_how_much_slower_the_slowest_pair_turns() -> None:
    plain = tuple(1e4 ** (-pair / 4) for pair in range(4))
    layer = Layer(
        "all layers", 8, 8, 1e4, "linear", "half", frequencies=(Frequencies((9,), (*plain[:3], plain[3] / 8)),)
    )
    assert slowed(layer, 9) == pytest.approx(8)
    assert slowed(layer, 7) is None
    still = Layer("all layers", 8, 8, 1e4, "x", "half", frequencies=(Frequencies((9,), (1.0, 0.0)),))
    assert slowed(still, 9) is None


def test_an_effect_without_numbers_is_the_word_of_its_column() -> None:
    assert effect_word(None, "stops") == "stops"
    assert effect_word(Effect("all layers", 8, False, relative=0.0), "differs") == "differs"


def test_every_verdict_has_a_word_and_marks_that_differ_and_those_of_a_terminal_are_ascii() -> None:
    assert set(VERDICT_WORDS) == set(MARKS) == set(VERDICTS)
    for marks in zip(*MARKS.values(), strict=True):
        assert len(set(marks)) == len(VERDICTS)
    assert all(mark.isascii() for _, mark in MARKS.values())
