"""Differences by effect: phases, the distance from which they are seen, logits, layouts, all on angles made by hand."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from gnomon.resolving.comparing import Difference, compared, effective_layout
from gnomon.resolving.reading import LayerReading
from gnomon.resolving.rules.angles import Always, Angles, Switched, Temperature


def layer(*inverse: float, magnitude: float = 1.0, **fields: Any) -> LayerReading:
    schedule = Always(Angles(np.array(inverse), magnitude))
    usual = {"head_dim": 8, "rotary_dim": 2 * len(inverse), "layout": "half", "schedule": schedule}
    return LayerReading(base=1e4, rule="default", **{"kind": "all layers", **usual, **fields})


def test_the_phase_is_that_of_the_first_and_the_last_token() -> None:
    found = compared(layer(1.0, 0.2, 0.011), layer(1.0, 0.19, 0.01), 101, 101)
    assert found.phase == pytest.approx(0.01 * 100)
    assert found.pair == 1
    assert found.relative == pytest.approx(0.1)  # the third pair: 0.011 for 0.01
    assert found.relative_pair == 2
    assert found.visible_from == 11  # 0.01 * 10 = 0.1 rad, no more than it: eleven steps behind the first
    assert not found.equal


def test_equal_layers_are_equal_and_nothing_is_ever_seen() -> None:
    found = compared(layer(1.0, 0.5), layer(1.0, 0.5), 1000, 2000)
    assert found == Difference("all layers", 1000, relative_last=1, pairs=2, partial=True)
    assert found.equal
    assert found.visible_from is None


@pytest.mark.parametrize(("relative", "equal"), [(1e-6, True), (4e-6, False)])
def test_the_noise_of_float32_tables_is_no_difference(relative: float, equal: bool) -> None:
    found = compared(layer(1.0, 0.5 * (1 + relative)), layer(1.0, 0.5), 1000, 1000)
    assert found.equal is equal


def test_logits_get_the_square_of_the_magnitude_the_softmax_scale_and_the_temperature() -> None:
    assert compared(layer(1.0, magnitude=1.2), layer(1.0), 9, 9).logits == pytest.approx(1.44)
    assert compared(layer(1.0, softmax=0.5), layer(1.0, magnitude=2.0), 9, 9).logits == pytest.approx(0.125)
    warm = layer(1.0, temperature=Temperature(0.1, 8))
    assert compared(warm, layer(1.0), 8, 8).logits == 1
    assert compared(warm, layer(1.0), 9, 9).logits == pytest.approx(1 + 0.1 * math.log(2))


def test_the_factor_on_cos_and_sin_reaches_the_columns_that_turn_alone() -> None:
    """Scores of DeepSeek, GLM-4, Phi-4-mini are (turned) cs^2 sm + (rest) sm: one product hides that."""
    hot, warm = layer(1.0, magnitude=2.0, softmax=0.25), layer(1.0)
    found = compared(hot, warm, 9, 9)
    assert (found.logits, found.rest) == (1, 0.25)
    assert not found.equal
    assert compared(replace(hot, head_dim=2), replace(warm, head_dim=2), 9, 9).equal
    still = compared(layer(1.0, temperature=Temperature(0.1, 8)), warm, 9, 9)
    assert still.rest == still.logits == pytest.approx(1 + 0.1 * math.log(2))


@pytest.mark.parametrize(
    ("inverse", "pairs"),
    [((2.0, 1.0, 0.5), (0, 2)), ((2.0, 1.0, 0.5 + 1e-15), (0, 2)), ((1.0, 1.0, 0.5), (1, 2))],
)
def test_pairs_that_are_off_alike_are_told_together(inverse: tuple[float, ...], pairs: tuple[int, int]) -> None:
    found = compared(layer(*inverse), layer(1.0, 0.5, 0.25), 9, 9)
    assert (found.relative_pair, found.relative_last) == pairs
    assert found.pairs == 3


def test_which_layers_turn_is_compared_where_both_know_it() -> None:
    """SmolLM3 and Llama 4 list them; llama.cpp leaves out every fourth layer whatever the list says."""
    turning = [layer(1.0, kind="layers with rotation", layers=numbers) for numbers in ((0, 2, 3), (0, 1, 2), None)]
    still = [layer(kind="layers without rotation", rotary_dim=0, layers=numbers) for numbers in ((1,), (3,))]
    assert (
        compared(turning[0], turning[1], 9, 9).incomparable == "layer 1 does not turn here and layer 3 turns here alone"
    )
    assert compared(still[0], still[1], 9, 9).incomparable == "layer 1 does not turn here and layer 3 turns here alone"
    assert compared(turning[0], turning[2], 9, 9).equal
    assert compared(turning[0], turning[0], 9, 9).equal
    many = layer(kind="layers without rotation", rotary_dim=0, layers=tuple(range(9)))
    assert compared(many, still[0], 9, 9).incomparable == "layers 0, 2, 3, 4, 5, 6 and 2 more do not turn here"
    first, third = layer(1.0, kind="full", layers=(1,)), layer(1.0, kind="full", layers=(3,))
    assert "layer 1 is full here alone" in compared(first, third, 9, 9).incomparable


def test_other_widths_and_frequencies_that_are_no_numbers_are_not_compared() -> None:
    assert "4 of 8 columns turn, 2 in the reference" in compared(layer(1.0, 0.5), layer(1.0), 9, 9).incomparable
    assert compared(layer(math.nan), layer(1.0), 9, 9).incomparable == "the frequencies are no numbers"
    assert compared(layer(1.0), layer(math.nan), 9, 9).incomparable == "the frequencies of the reference are no numbers"
    pairs = compared(layer(1.0, 0.5, rotary_dim=2), layer(1.0), 9, 9)
    assert pairs.incomparable == "2 pairs have frequencies, 1 in the reference"
    assert not pairs.equal


def test_a_magnitude_of_zero_in_the_reference_is_no_division() -> None:
    assert math.isnan(compared(layer(1.0), layer(1.0, magnitude=0.0), 9, 9).logits)
    assert compared(layer(1.0, magnitude=0.0), layer(1.0, magnitude=0.0), 9, 9).equal


def test_layers_that_do_not_turn_differ_by_their_logits_alone() -> None:
    still = {"rotary_dim": 0, "head_dim": 8}
    assert compared(layer(**still), layer(layout="interleaved", **still), 9, 9).equal
    assert compared(layer(softmax=2.0, **still), layer(**still), 9, 9).logits == 2


def test_a_pair_that_stands_in_the_reference_and_turns_here_is_off_by_all_of_it() -> None:
    assert compared(layer(1.0, 0.5), layer(1.0, 0.0), 9, 9).relative == 1
    assert compared(layer(1.0, 1e-30), layer(1.0, 0.0), 9, 9).equal  # a divisor of 1e30 stands for standing still


def test_rows_that_were_permuted_fit_the_other_layout() -> None:
    permuted = layer(1.0, layout="interleaved", permuted="rows of q and k from half to interleaved")
    assert effective_layout(permuted) == "half"
    assert compared(permuted, layer(1.0), 9, 9).equal
    wrong = compared(layer(1.0, layout="interleaved"), layer(1.0), 9, 9)
    assert wrong.layouts
    assert not wrong.equal


def test_a_stack_that_looks_at_each_position_is_off_at_its_older_tokens() -> None:
    """Beyond the limit the newest token has the long list in both; in one of them older tokens kept the short one."""
    short, long = Angles(np.array([1.0, 0.5])), Angles(np.array([0.5, 0.25]))
    by_position = layer(1.0, 0.5, schedule=Switched(short, long, 16, "position", ""))
    by_sequence = layer(1.0, 0.5, schedule=Switched(short, long, 16, "sequence", ""))
    assert compared(by_position, by_sequence, 16, 64).equal
    found = compared(by_position, by_sequence, 40, 64)
    assert found.phase == pytest.approx(0.5 * 15)  # the last token of the short list
    assert compared(by_sequence, by_position, 40, 64).phase == pytest.approx(0.5 * 15)
    assert compared(by_position, by_position, 40, 64).equal
