"""Numbers in the risks and steps of single rules, by hand."""

from typing import Any

import pytest

from gnomon import encodings
from gnomon.advisor import Checkpoint, Description, Lengths, ModelSizes, Setting, advise, answer
from gnomon.encodings.alibi import ALiBi
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


def test_the_table_of_an_image_is_resampled_as_a_picture() -> None:
    # 197 = 14 x 14 + 1 and 577 = 24 x 24 + 1; 578 = 24 x 24 + 2 has another number of other tokens.
    said = " ".join(advise(family="vit", trained=197, target=577).best.steps)
    assert "resample the 196 rows of the patches as a picture, from 14 x 14 to 24 x 24" in said
    assert "keep 1 other row" in said
    assert "linearly" not in said
    said = " ".join(advise(family="vit", trained=196, target=576).best.steps)
    assert "from 14 x 14 to 24 x 24, and never as one line" in said
    assert "other row" not in said
    for trained, target in ((197, 578), (215, 595)):  # 215 - 196 = 595 - 576 = 19 are no class tokens
        said = " ".join(advise(family="vit", trained=trained, target=target).best.steps)
        assert "along both axes of the grid" in said


def test_the_table_of_a_text_is_resampled_as_a_line_and_measured_where_it_is_not_trained() -> None:
    tuned = " ".join(advise(family="bert", trained=512, target=1024).best.steps)
    assert "new row p is old row p x 511 / 1023" in tuned
    assert "measure it" not in tuned
    assert "measure it before it is used" in " ".join(
        advise(family="bert", trained=512, target=1024, fine_tune=False).best.steps
    )


def test_a_resampled_table_has_the_width_of_the_checkpoint_and_not_of_the_model() -> None:
    start = Checkpoint("m", "learned", {"dim": 128, "max_length": 512}, 512, False, ModelSizes(dim=256, num_heads=4))
    best = answer(Description(lengths=Lengths(target=1024), setting=Setting(start))).best
    assert best.options["dim"] == 128
    assert [cost.value for cost in best.costs] == [1024 * 128, 1024 * 128 * 2]  # parameters, bytes in bfloat16


def test_an_extension_without_training_says_where_nothing_is_published() -> None:
    near = " ".join(advise(family="llama", trained=4096, target=16384, fine_tune=False).best.steps)
    assert "try ntk beside it" in near
    far = " ".join(advise(family="llama", trained=4096, target=16388, fine_tune=False).best.steps)
    assert "measure retrieval at 16388 tokens before it is used" in far


def test_numbers_of_causal_models_are_called_so_in_advice_on_encoders() -> None:
    for task in ("classification", "retrieval", "tagging", "pairs", "summarisation"):
        for recommendation in advise(task, trained=512, target=2048).recommendations:
            for fact in recommendation.evidence:
                assert "perplexity" not in fact.statement or fact.statement.startswith("causal language models")


def test_a_few_far_longer_inputs_are_pointed_out() -> None:
    # 95 x 1.1 = 104.5, so 105 rows; 211 is more than twice that, 210 is not.
    [said] = [it for it in advise("tagging", percentiles={95: 95, 100: 211}).assumptions if "training goes" in it]
    assert said.endswith("95 of 100 inputs have 95 tokens or fewer: --trained 105 would cut the others")
    [said] = [it for it in advise("tagging", percentiles={95: 95, 100: 210}).assumptions if "training goes" in it]
    assert said.endswith("--trained for a shorter one")


def test_the_share_beyond_the_target_is_not_that_beyond_the_trained_length() -> None:
    # 2 of 4 are longer than the 50 of training, 1 is longer than the target of 100.
    advice = advise("code", lengths=[10, 20, 60, 150], trained=50, target=100)
    assert "25.00% of the inputs are longer than the target of 100" in risks(advice, "rotary", "PE701")


def test_batches_are_mostly_padding_from_three_times_the_middle_length_on() -> None:
    assert risks(advise("code", percentiles={50: 100, 95: 300}), "rotary", "PE705") == ""
    assert "has 100 tokens, the 95th of 100 301" in risks(
        advise("code", percentiles={50: 100, 95: 301}), "rotary", "PE705"
    )


def test_the_bound_of_causal_models_is_called_so_for_encoders() -> None:
    # 10000 is below 27000 at 4096.
    assert "retrieval may fail" in risks(advise(family="llama", trained=4096), "keep", "PE110")
    plain = {"kind": "plain", "base": 1e4}
    start = Checkpoint("m", "rotary", {"head_dim": 64, "frequencies": plain}, trained=4096, causal=False)
    advice = answer(Description(setting=Setting(start)))
    assert "the bound is one of causal models" in risks(advice, "keep", "PE110")


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
        ({"task": "retrieval", "trained": 512, "limits": ["flash-attention"]}, "symmetric"),
        ({"task": "code", "trained": 512, "limits": ["flash-attention"]}, "causal"),
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


@pytest.mark.parametrize("task", ["language-model", "retrieval"])
def test_the_slopes_that_are_to_be_given_to_flash_attention_exist(task: str) -> None:
    alibi = encodings.build("alibi", **options("alibi", advise(task, trained=64, limits=["flash-attention"])))
    assert isinstance(alibi, ALiBi)
    assert alibi.flash_slopes().tolist() == [2.0**-exponent for exponent in range(1, 9)]


def test_attention_between_encoder_and_decoder_is_named_where_there_is_some() -> None:
    assert risks(advise("translation", trained=64), "t5", "PE317")
    assert risks(advise(family="t5", trained=64), "keep", "PE317")
    assert risks(advise("tagging", trained=64), "t5", "PE317") == ""


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
