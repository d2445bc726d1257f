"""Numbers in the risks and steps of single rules, by hand."""

from typing import Any

import pytest

from gnomon.advisor import Checkpoint, Description, Lengths, ModelSizes, Setting, advise, answer
from gnomon.report.advice.document import Advice


def risks(advice: Advice, name: str, check: str) -> str:
    """What one recommendation says of one check."""
    [found] = [it for it in advice.recommendations if it.name == name]
    return "; ".join(risk.message for risk in found.risks if risk.check == check)


def test_a_base_below_the_bound_is_said_of_the_plain_and_the_larger_base() -> None:
    # 10000 x 8^(64/62): 8^1.0322581 = e^(2.0794415 x 1.0322581) = e^2.146520 = 8.55500; 85550 < 6.4e5 at 32768.
    advice = advise(family="llama", trained=4096, target=32768)
    assert "a base of 10000 is below the bound of 640000 for 32768 tokens" in risks(advice, "keep", "PE110")
    assert "a base of 85550" in risks(advice, "ntk", "PE110")


def test_a_base_above_the_bound_is_not_a_risk() -> None:
    # 512 tokens: the bound is 4300, the family's base 10000.
    assert risks(advise(family="llama", trained=512), "keep", "PE110") == ""


def test_the_share_beyond_the_target_is_counted() -> None:
    # 3 of 8 are longer than 100.
    advice = advise("retrieval", lengths=[5, 9, 40, 99, 100, 101, 150, 300], trained=100, target=100)
    assert "37.50% of the inputs are longer" in risks(advice, "rotary", "PE701")


def test_half_precision_counts_exactly_to_256() -> None:

    advice = advise("code", trained=257, sizes=ModelSizes(dtype="bfloat16"))
    assert "counts exactly to 256" in risks(advice, "rotary", "PE301")
    assert risks(advise("code", trained=256), "rotary", "PE301") == ""
    assert risks(advise("code", trained=2048, sizes=ModelSizes(dtype="float16")), "rotary", "PE301") == ""
    assert "to 2048" in risks(advise("code", trained=2049, sizes=ModelSizes(dtype="float16")), "rotary", "PE301")


def test_an_attention_factor_that_was_stated_for_the_old_factor_is_not_carried_over() -> None:
    frequencies = {"kind": "yarn", "factor": 2.0, "original_max_length": 1024, "base": 1e4, "attention_factor": 1.07}
    start = Checkpoint("m", "rotary", {"head_dim": 64, "frequencies": frequencies}, trained=2048, causal=True)
    best = answer(Description(lengths=Lengths(target=4096), setting=Setting(start))).best
    assert best.name == "rescale"
    assert best.options["frequencies"] == {"kind": "yarn", "factor": 4.0, "original_max_length": 1024, "base": 1e4}
    assert best.numbers["attention_factor"] == 1.138629  # 0.1 ln 4 + 1


def options(name: str, advice: Advice) -> dict[str, object]:
    """The options of one recommendation."""
    return dict(next(it for it in advice.recommendations if it.name == name).options)


@pytest.mark.parametrize(
    ("given", "form"),
    [
        ({"task": "code", "trained": 100_000}, "causal"),
        ({"task": "code", "trained": 100_001}, "symmetric"),  # float32 loses digits of slope x position
        ({"task": "retrieval", "trained": 512}, "asymmetric"),  # |i - j| cannot tell left from right
    ],
)
def test_the_form_of_alibi_follows_the_mask_and_the_length(given: dict[str, Any], form: str) -> None:
    assert options("alibi", advise(**given))["form"] == form


@pytest.mark.parametrize(
    ("given", "distance", "direction"),
    [
        ({"task": "code", "trained": 2048}, 128, "causal"),
        ({"task": "code", "trained": 64}, 64, "causal"),
        (
            {"task": "code", "trained": 8},
            17,
            "causal",
        ),  # of 32 buckets 16 are exact: the widest starts at 17
        ({"task": "pairs", "trained": 64}, 64, "both"),
        ({"task": "pairs", "trained": 8}, 9, "both"),  # 16 for each side, 8 of them exact
    ],
)
def test_the_last_bucket_of_t5_is_reached_in_training(given: dict[str, Any], distance: int, direction: str) -> None:
    found = options("t5", advise(**given))
    assert (found["max_distance"], found["direction"]) == (distance, direction)


def test_flash_attention_gets_slopes_and_no_bias() -> None:
    best = advise("language-model", trained=64, target=512, limits=["flash-attention"]).best
    assert any("alibi_slopes=encoding.flash_slopes()" in step for step in best.steps)


def test_a_share_that_percentiles_only_bound_is_said_to_be_a_bound() -> None:
    counted = advise("tagging", need="absolute", lengths=[10] * 96 + [50] * 4).best  # 95th 10, 11 rows, 4 longer
    assert "cut inputs to 11 tokens: 4.00% are longer" in counted.steps
    bounded = advise("tagging", need="absolute", percentiles={95: 10, 100: 50}).best
    assert "cut inputs to 11 tokens: at most 5.00% are longer" in bounded.steps


def test_beyond_the_published_bases_the_last_one_is_taken_and_said() -> None:
    [rotary] = [it for it in advise("code", trained=2**21).recommendations if it.name == "rotary"]
    assert rotary.options["frequencies"] == {"kind": "plain", "base": 510000000.0}
    assert any("no bound of the base is published beyond 1048576" in step for step in rotary.steps)
