"""Points of single rules on both sides of their thresholds, by the tables that the rules name."""

from typing import Any

import pytest

from gnomon.advisor import Checkpoint, Description, Lengths, Limit, ModelSizes, Setting, Task, advise, answer
from gnomon.report.advice.document import Advice

LM: dict[str, Any] = {"task": "language-model"}
LLAMA: dict[str, Any] = {"family": "llama", "trained": 4096}

POINTS: list[tuple[dict[str, Any], str, str, int | None]] = [
    # A causal mask shows where the input starts, so encodings of differences lose half as much.
    ({"trained": 64, "need": "absolute", "causal": True}, "rotary", "absolute_need", 0),
    ({"trained": 64, "need": "absolute", "causal": False}, "rotary", "absolute_need", -1),
    ({"trained": 64, "need": "absolute", "causal": True}, "alibi", "absolute_need", -2),
    ({"trained": 64, "need": "absolute", "causal": False}, "alibi", "absolute_need", -3),
    # Every relation is learned anew at each position by vectors of positions, learned or not.
    ({"task": "pairs", "trained": 64}, "sinusoidal", "relative_need", -2),
    ({"task": "pairs", "trained": 64}, "learned", "relative_need", -2),
    ({"task": "pairs", "trained": 64}, "rotary", "relative_need", 2),
    # A larger base alone serves factors of up to four.
    ({**LLAMA, "target": 16384, "fine_tune": False}, "ntk", "extension_without_tuning", 3),
    ({**LLAMA, "target": 16388, "fine_tune": False}, "ntk", "extension_without_tuning", 1),
    ({**LLAMA, "target": 16384, "fine_tune": False}, "linear", "extension_without_tuning", -2),
    # YaRN was published up to 32; at 2M tokens interpolation has 20.17 and YaRN 8.27.
    ({**LLAMA, "target": 32 * 4096}, "yarn", "very_long_extension", None),
    ({**LLAMA, "target": 32 * 4096 + 1}, "yarn", "very_long_extension", -1),
    ({**LLAMA, "target": 32 * 4096 + 1}, "linear", "very_long_extension", -2),
    # T5's bias: 18.79 at 1012 of 512, 20.41 at 2512, 29.54 at 5512.
    ({**LM, "trained": 512, "target": 1024}, "t5", "train_short_test_long", 3),
    ({**LM, "trained": 512, "target": 1025}, "t5", "train_short_test_long", 1),
    ({**LM, "trained": 512, "target": 2048}, "t5", "train_short_test_long", 1),
    ({**LM, "trained": 512, "target": 2049}, "t5", "train_short_test_long", -1),
    ({"family": "t5", "trained": 512, "target": 1024}, "keep", "bias_goes_on", 4),
    ({"family": "t5", "trained": 512, "target": 1025}, "keep", "bias_goes_on", 1),
    # No encoding at all: 2.121 at 1400 of 1024, 146 at 2048.
    ({**LM, "trained": 1024, "target": 1536}, "nope", "train_short_test_long", None),
    ({**LM, "trained": 1024, "target": 1537}, "nope", "train_short_test_long", -1),
    # Rotary: 19.81 at 612 of 512, 21.37 at 1012.
    ({**LM, "trained": 500, "target": 600}, "rotary", "train_short_test_long", None),
    ({**LM, "trained": 500, "target": 601}, "rotary", "train_short_test_long", -3),
    ({"task": "retrieval", "trained": 500, "target": 601}, "rotary", "train_short_test_long", -2),
    # 4 bytes x 8 heads x 5792^2 = 1,073,512,448 bytes, just below 2^30 = 1,073,741,824; 5793^2 is above it.
    ({**LM, "trained": 5792}, "t5", "bias_too_large", None),
    ({**LM, "trained": 5793}, "t5", "bias_too_large", -2),
    # A table is resampled to up to four times its rows.
    ({"family": "bert", "trained": 512, "target": 2048}, "interpolate", "stretch_the_table", 4),
    ({"family": "bert", "trained": 512, "target": 2048}, "switch", "stretch_the_table", 0),
    ({"family": "bert", "trained": 512, "target": 2049}, "interpolate", "stretch_the_table", 1),
    ({"family": "bert", "trained": 512, "target": 2049}, "switch", "stretch_the_table", 3),
    ({"family": "vit", "trained": 197, "target": 2049}, "interpolate", "stretch_the_table", 4),
    # DaRoPE: 250.6 without an encoding at 124M parameters, 20.15 against 15.10 at 350M (a width of 1024).
    ({**LM, "trained": 64, "sizes": ModelSizes(dim=1008, num_heads=8)}, "nope", "nope_learns_slowly", -3),
    ({**LM, "trained": 64, "sizes": ModelSizes(dim=1024, num_heads=8)}, "nope", "nope_learns_slowly", -2),
    # Two products for the scores.
    ({**LM, "trained": 64}, "transformer_xl", "second_score_product", -1),
    # Reach of rotary: a hundred tokens, and a fifth of what it was trained on.
    ({**LLAMA, "target": 4196}, "keep", "grace_zone", 6),
    ({**LLAMA, "target": 4197}, "keep", "rotary_beyond_trained", -5),
    ({"family": "llama", "trained": 100, "target": 120}, "keep", "grace_zone", 6),
    ({"family": "llama", "trained": 100, "target": 121}, "keep", "rotary_beyond_trained", -5),
]


def given_by(advice: Advice, name: str, rule: str) -> int | None:
    """The points that one rule gave a recommendation; None where it gave none."""
    [found] = [it for it in advice.recommendations if it.name == name]
    return next((points.points for points in found.points if points.rule == rule), None)


@pytest.mark.parametrize(("words", "name", "rule", "points"), POINTS)
def test_a_rule_gives_what_its_source_says_on_both_sides_of_its_threshold(
    words: dict[str, Any], name: str, rule: str, points: int | None
) -> None:
    assert given_by(advise(**words), name, rule) == points


@pytest.mark.parametrize(("encoding", "points"), [("alibi", 5), ("kerple", 3), ("transformer_xl", 3)])
def test_checkpoints_with_a_bias_by_distance_keep_it(encoding: str, points: int) -> None:
    sizes = ModelSizes(dim=64, num_heads=4, head_dim=16)
    start = Checkpoint("m", encoding, {"num_heads": 4}, trained=64, causal=True, sizes=sizes)
    advice = answer(Description(lengths=Lengths(target=256), setting=Setting(start)))
    assert given_by(advice, "keep", "bias_goes_on") == points
    assert advice.best.name == "keep"


def test_shares_of_arithmetic_and_norms_are_those_of_the_width() -> None:
    # 6 d of 24 d^2 at d = 512: 1 / 2048 = 0.0488 percent. Sinusoids of 512: sqrt(256) = 16.
    advice = advise("classification", device="edge", trained=64, sizes=ModelSizes(dim=512, num_heads=8))
    assert any("1 / (4 x 512) = 0.049 percent" in fact.statement for fact in advice.best.evidence)
    [sinusoidal] = [it for it in advice.recommendations if it.name == "sinusoidal"]
    assert sinusoidal.numbers == {"norm": 16.0}


@pytest.mark.parametrize(
    ("trained", "base"),
    # A share of 32 columns: 2 pi 100^(30/32) = 471.2 places, so 100 serves sides up to 235; 2 pi 1000^(30/32) = 4080.
    [(235 * 235, 100.0), (236 * 236, 1000.0), (2040 * 2040, 1000.0), (2041 * 2041, 10000.0)],
)
def test_the_slowest_pair_of_a_grid_needs_two_sides_for_a_turn(trained: int, base: float) -> None:
    sizes = ModelSizes(dim=384, num_heads=6)
    assert advise("images", trained=trained, sizes=sizes).best.options["frequencies"]["base"] == base


def test_limits_are_words_or_members() -> None:
    assert advise(Task.CODE, limits=[Limit.ONNX]).facts == advise("code", limits=["onnx"]).facts
