"""Scaling composed with what is there: factors counted from the original length, by numbers worked out by hand."""

import math
from typing import Any

import pytest

from gnomon.errors import GnomonError
from gnomon.extending.rotary.composing import Composed, composed
from gnomon.extending.rotary.lengths import lengths_of
from gnomon.extending.rotary.reading import read_rotary
from tests.helpers.rotary_folders import tiny

ORIGINAL = "original_max_position_embeddings"
YARN = {"rope_type": "yarn", "factor": 4.0, ORIGINAL: 32768}
LLAMA3 = {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0, ORIGINAL: 8192}
DEEPSEEK = {
    "type": "yarn",
    "factor": 40,
    ORIGINAL: 4096,
    "beta_fast": 32,
    "beta_slow": 1,
    "mscale": 1.0,
    "mscale_all_dim": 1.0,
}


def _composed(config: dict[str, Any], to: int, method: str = "auto", original: int | None = None) -> Composed:
    rotary = read_rotary(config)
    assert rotary is not None
    return composed(rotary, lengths_of(rotary, to, original), method)


def _scaled(config: dict[str, Any], to: int, method: str = "auto", original: int | None = None) -> Any:
    [(_, scaled)] = _composed(config, to, method, original).layers
    return scaled


def _llama(length: int, block: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    return tiny("llama", max_position_embeddings=length, rope_theta=1e6, rope_scaling=block, **more)


#: config, --to, method, --original; then rule, factor, base, stated length. Head width 16.
TABLE = [
    (_llama(4096), 16384, "linear", None, ("linear", 4.0, 1e6, 16384)),
    (_llama(4096), 16384, "yarn", None, ("yarn", 4.0, 1e6, 16384)),
    (_llama(4096), 16384, "auto", None, ("yarn", 4.0, 1e6, 16384)),
    (_llama(4096), 16384, "dynamic", None, ("dynamic", 4.0, 1e6, 4096)),
    (_llama(4096), 16384, "longrope", None, ("longrope", 4.0, 1e6, 16384)),
    (_llama(4096), 16384, "ntk", None, ("default", None, 1e6 * 4 ** (16 / 14), 16384)),
    (_llama(131072, YARN), 262144, "auto", None, ("yarn", 8.0, 1e6, 262144)),
    (_llama(131072, YARN), 262144, "yarn", None, ("yarn", 8.0, 1e6, 262144)),
    (_llama(32768, YARN), 262144, "auto", None, ("yarn", 8.0, 1e6, 262144)),  # the block of Qwen's model card
    (_llama(32768, YARN), 131072, "auto", None, ("yarn", 4.0, 1e6, 131072)),  # only the stated length is wrong
    (_llama(40960, YARN), 163840, "auto", None, ("yarn", 5.0, 1e6, 163840)),
    (_llama(131072, {**YARN, "factor": None}), 262144, "auto", None, ("yarn", 8.0, 1e6, 262144)),
    (_llama(131072, LLAMA3), 262144, "auto", None, ("llama3", 16.0, 1e6, 262144)),
    (_llama(131072, {**LLAMA3, "factor": 32.0}), 524288, "auto", None, ("llama3", 128.0, 1e6, 524288)),
    (_llama(4096, {"type": "linear", "factor": 2.0}), 32768, "auto", 4096, ("linear", 8.0, 1e6, 32768)),
    (_llama(8192, {"type": "linear", "factor": 2.0}), 32768, "linear", 4096, ("linear", 8.0, 1e6, 32768)),
    (_llama(8192, {"type": "linear", "factor": 2.0, ORIGINAL: 4096}), 32768, "auto", None, ("linear", 8.0, 1e6, 32768)),
    (_llama(4096, {"type": "dynamic", "factor": 2.0}), 32768, "auto", None, ("dynamic", 8.0, 1e6, 4096)),
    (_llama(4096, {"rope_type": "default"}), 8192, "yarn", None, ("yarn", 2.0, 1e6, 8192)),
    (_llama(131072), 131072, "yarn", 32768, ("yarn", 4.0, 1e6, 131072)),  # the config lies
    (_llama(163840, DEEPSEEK), 327680, "auto", None, ("yarn", 80.0, 1e6, 327680)),
]


@pytest.mark.parametrize(("config", "to", "method", "original", "expected"), TABLE)
def test_each_rule_composes_relative_to_the_original_length(
    config: dict[str, Any], to: int, method: str, original: int | None, expected: tuple[Any, ...]
) -> None:
    made = _scaled(config, to, method, original)
    rule, factor, base, positions = expected
    assert (made.rule, made.values.get("factor"), made.positions) == (rule, factor, positions)
    assert made.base == pytest.approx(base, rel=1e-12)


def test_two_steps_are_one_large_step_for_every_rule_that_goes_on() -> None:
    for method in ("linear", "yarn", "ntk", "dynamic", "longrope"):
        first = _scaled(_llama(4096), 16384, method)
        block = None if first.rule == "default" else {"rope_type": first.rule, **first.values}
        between = _llama(first.positions, block) | {"rope_theta": first.base}
        twice, once = _scaled(between, 65536), _scaled(_llama(4096), 65536, method)
        if method == "ntk":
            twice = _scaled(between, 65536, "ntk")
        assert twice.rule == once.rule
        assert twice.values == once.values
        assert twice.base == pytest.approx(once.base, rel=1e-12)


def test_the_attention_factor_follows_when_it_is_the_factors_own() -> None:
    own = 0.1 * math.log(4) + 1
    made = _scaled(_llama(131072, {**YARN, "attention_factor": own}), 262144)
    assert made.values["attention_factor"] == pytest.approx(0.1 * math.log(8) + 1, abs=1e-12)
    assert made.frequencies(32768).attention_factor == pytest.approx(1.207944, abs=1e-6)


def test_an_attention_factor_that_was_set_on_purpose_stays_and_is_named() -> None:
    made = _scaled(_llama(131072, {**YARN, "attention_factor": 1.0}), 262144)
    assert made.values["attention_factor"] == 1.0
    assert any("attention_factor stays 1" in drawback for drawback in made.drawbacks)


def test_the_pair_of_deepseek_stays_and_its_softmax_multiplier_is_told() -> None:
    made = _scaled(_llama(163840, DEEPSEEK), 327680)
    assert (made.values["mscale"], made.values["mscale_all_dim"]) == (1.0, 1.0)
    assert made.frequencies(4096).attention_factor == 1.0
    assert any("from 1.873854 to 2.068427" in word for word in made.words)


def test_what_belongs_to_the_model_stays_in_the_block() -> None:
    block = {"type": "mrope", "mrope_section": [2, 3, 3]}
    made = _scaled(tiny("qwen2_vl", rope_theta=1e6, rope_scaling=block), 256)
    assert (made.rule, made.values["mrope_section"]) == ("yarn", [2, 3, 3])
    kept = _scaled(_llama(131072, {**YARN, "truncate": False, "beta_fast": 16.0, "attn_factor": 1.0}), 262144).values
    assert (kept["truncate"], kept["beta_fast"], kept["attn_factor"], kept["beta_slow"]) == (False, 16.0, 1.0, 1.0)


def test_sliding_layers_stay_and_only_full_ones_are_scaled() -> None:
    gemma = tiny("gemma3_text", head_dim=16, sliding_window=8, rope_theta=1e6, rope_local_base_freq=1e4)
    made = _composed({**gemma, "rope_scaling": {"rope_type": "linear", "factor": 8.0}}, 128)
    found = {held.kind: scaled for held, scaled in made.layers}
    full = found["full_attention"]
    assert found["sliding_attention"] is None
    assert full is not None
    assert (full.values["factor"], full.values[ORIGINAL], full.base) == (16.0, 8, 1e6)
    assert any(word.startswith("sliding_attention: no distance") for word in made.words)


def test_a_window_longer_than_the_trained_length_protects_nothing() -> None:
    gemma = tiny("gemma3_text", head_dim=16, sliding_window=64, rope_theta=1e6, rope_local_base_freq=1e4)
    made = _composed(gemma, 128)
    assert all(scaled is not None for _, scaled in made.layers)


@pytest.mark.parametrize(
    "config",
    [
        tiny("cohere2", sliding_window=16, rope_theta=5e4),
        tiny("mistral", sliding_window=16),
        tiny("llama4_text", attention_chunk_size=16, head_dim=16),
    ],
)
def test_windows_in_all_layers_that_turn_leave_only_lengths_to_change(config: dict[str, Any]) -> None:
    made = _composed(config, 256)
    assert (made.scaled, made.method, made.positions) == (False, "lengths", 256)
    with pytest.raises(GnomonError, match="--method auto changes the lengths only"):
        _composed(config, 256, "yarn")


def test_pairs_that_all_go_round_often_leave_only_lengths_to_change() -> None:
    kinds = {
        "full_attention": {"rope_type": "proportional", "rope_theta": 1e6, "partial_rotary_factor": 0.25},
        "sliding_attention": {"rope_type": "default", "rope_theta": 1e4},
    }
    large = tiny("gemma4_text", head_dim=16, global_head_dim=16, sliding_window=8, rope_parameters=kinds)
    assert not _composed({**large, "max_position_embeddings": 131072}, 262144).scaled
    short = _composed({**large, "max_position_embeddings": 64}, 256)
    [full] = [scaled for held, scaled in short.layers if held.kind == "full_attention"]
    assert full is not None
    assert (full.rule, full.values["factor"], full.base) == ("proportional", 4.0, 1e6)


def test_a_block_that_windowed_and_full_layers_share_is_scaled_and_that_is_said() -> None:
    types = ["sliding_attention", "full_attention"]
    gpt_oss = tiny("gpt_oss", head_dim=16, sliding_window=8, layer_types=types, rope_theta=15e4)
    made = _composed({**gpt_oss, "max_position_embeddings": 131072}, 262144)
    [(held, scaled)] = made.layers
    assert scaled is not None
    assert (held.rule, scaled.values["factor"], scaled.values["truncate"]) == ("yarn", 64.0, False)
    assert "layers with a window share the block of the others, so they are scaled too" in made.drawbacks


def test_longrope_goes_on_with_its_short_list_and_slower_pairs_in_the_long_one() -> None:
    lists = {"short_factor": [1.0] * 8, "long_factor": [1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0, 4.0]}
    block = {"type": "longrope", **lists}
    made = _scaled(tiny("phi3", max_position_embeddings=16384, rope_scaling=block, **{ORIGINAL: 4096}), 32768)
    assert made.values["short_factor"] == [1.0] * 8
    ratios = [new / old for new, old in zip(made.values["long_factor"], lists["long_factor"], strict=True)]
    # turns within 4096 tokens of pair i: 4096 10000^(-i/8) / 2 pi; c(32) = 4.024, c(1) = 5.628 pairs
    low, high = (8 * math.log(4096 / (2 * math.pi * turns)) / math.log(1e4) for turns in (32, 1))
    share = [min(max((i - low) / (high - low), 0), 1) for i in range(8)]
    slower = [(1 - gamma + gamma / 4) / (1 - gamma + gamma / 8) for gamma in share]  # 8 times over 4 times
    assert ratios == pytest.approx(slower, abs=1e-5)
    assert (ratios[0], ratios[-1]) == (1.0, 2.0)


def test_a_longrope_config_without_a_factor_of_its_own_says_what_the_new_length_makes_of_it() -> None:
    lists = {"short_factor": [1.0] * 8, "long_factor": [2.0] * 8}
    block = {"type": "longrope", **lists}
    made = _scaled(tiny("phi3", max_position_embeddings=131072, rope_scaling=block, **{ORIGINAL: 4096}), 262144)
    assert "attention_factor" not in made.values
    # sqrt(1 + ln 64 / ln 4096) and sqrt(1 + ln 32 / ln 4096), of which ln 64 / ln 4096 = 1/2
    [said] = [drawback for drawback in made.drawbacks if "cos and sin" in drawback]
    assert f"by {math.sqrt(1.5):.6f} instead of 1.190238 at every length, so short texts change too" in said
    stated = {**block, "attention_factor": 1.190238}
    follows = _scaled(tiny("phi3", max_position_embeddings=131072, rope_scaling=stated, **{ORIGINAL: 4096}), 262144)
    assert follows.values["attention_factor"] == pytest.approx(math.sqrt(1.5), rel=1e-12)


REFUSED = [
    (_llama(4096), 4096, "auto", "serves 4,096 tokens by its config already"),
    (_llama(131072, YARN), 65536, "auto", "serves 131,072 tokens by its config already"),
    (_llama(32768, YARN), 65536, "auto", "serves 131,072 tokens by its config already"),
    (_llama(8192, {"type": "linear", "factor": 4.0}), 65536, "auto", "--original 8192 if it was trained to 8,192"),
    (_llama(8192, {"type": "linear", "factor": 4.0, ORIGINAL: 2048}), 65536, "yarn", "scaled already (linear by 4)"),
    (_llama(131072, LLAMA3), 262144, "yarn", "scaled already (llama3 by 8)"),
    (_llama(131072, YARN), 262144, "ntk", "use --method auto, which goes on with it"),
    (_llama(4096, {"type": "dynamic", "alpha": 1000.0}), 8192, "auto", "dynamic scaling by alpha"),
    (_llama(4096, {"type": "telechat3-yarn", "factor": 4.0}), 8192, "auto", "a rule that gnomon does not extend"),
    (tiny("gptj", n_positions=64), 128, "auto", "has its frequencies in its code"),
    (tiny("esm", position_embedding_type="rotary"), 128, "ntk", "has its frequencies in its code or its tensors"),
    (tiny("phi3"), 128, "yarn", "transformers reads no scaling but longrope in a phi3 config"),
    (_llama(4096, None, model_max_length=8192), 16384, "auto", "states two lengths"),
    ({**tiny("somebodys", rope_theta=1e4), "max_position_embeddings": None}, 8192, "auto", "states no length"),
    (_llama(131072, YARN, **{ORIGINAL: 8192}), 262144, "auto", "states two original lengths"),
    (_llama(4096, {"type": "longrope", "short_factor": "x"}), 8192, "auto", "no list of numbers"),
    (_llama(4096, {"type": "longrope", "short_factor": [1.0]}), 8192, "auto", "1 numbers, and 8 pairs"),
    (_llama(4096, {"type": ["yarn"], "factor": 4.0}), 8192, "auto", "which is no name of one"),
    ({**_llama(4096), "rope_theta": "5e5"}, 8192, "auto", "which is no base"),
    ({**_llama(4096), "rope_theta": 0.5}, 8192, "auto", "which is no base"),
    ({**_llama(4096), "hidden_size": None}, 8192, "auto", "does not say how wide a head is"),
    ({**_llama(4096), "partial_rotary_factor": 0.5}, 8192, "auto", "remove the key first"),
    (_llama(4096, {"rope_type": "default", "partial_rotary_factor": 0.5}), 8192, "yarn", "remove the key first"),
    ({**_llama(4096, YARN), "rope_parameters": {**YARN, "factor": 8.0}}, 2**20, "auto", "states its scaling twice"),
    (_llama(4096), 1, "auto", "--to is a number of tokens from 2"),
    (_llama(4096), 2**40, "auto", "--to is a number of tokens from 2"),
    (_llama(4096), 8192, "tile", "is no method for a model with rotary positions"),
]


@pytest.mark.parametrize(("config", "to", "method", "said"), REFUSED)
def test_what_cannot_be_done_is_refused_in_one_sentence(
    config: dict[str, Any], to: int, method: str, said: str
) -> None:
    with pytest.raises(GnomonError) as error:
        _composed(config, to, method)
    assert said in str(error.value)
    assert "\n" not in str(error.value)


def test_a_phi_3_without_scaling_gets_the_only_rule_that_is_read_there() -> None:
    assert _scaled(tiny("phi3"), 256).rule == "longrope"
    assert _scaled(tiny("phi3"), 256, "ntk").rule == "default"


def test_an_unknown_family_is_read_as_a_rotary_one_and_that_is_said() -> None:
    made = _composed(tiny("somebodys", rope_theta=1e5), 256)
    assert made.method == "yarn"
    assert "gnomon does not know the model type 'somebodys', and read its rotary keys as usual" in made.drawbacks
    assert read_rotary(tiny("somebodys")) is None


def test_a_model_without_rotation_is_none() -> None:
    assert read_rotary(tiny("bloom")) is None
    assert read_rotary(tiny("gpt2")) is None


def test_keys_that_nobody_read_in_a_plain_block_do_not_come_to_life() -> None:
    block = {"rope_type": "default", "factor": 8.0, "mscale": 0.5, "mscale_all_dim": 1.0, "attention_factor": 2.0}
    made = _scaled(_llama(4096, block), 16384)
    assert set(made.values) == {"factor", ORIGINAL, "beta_fast", "beta_slow"}
    assert made.values["factor"] == 4.0


def test_a_length_that_only_the_class_states_is_taken_from_there_and_said() -> None:
    falcon = {"model_type": "falcon", "hidden_size": 64, "num_attention_heads": 4, "alibi": False}
    made = _composed(falcon, 8192)
    assert (made.lengths.original, made.method) == (2048, "yarn")
    assert "the config states no length: 2,048 tokens are the default of transformers' class" in made.words
    short = {
        "model_type": "gemma3_text",
        "rope_scaling": {"rope_type": "linear", "factor": 8.0},
        "sliding_window": 1024,
    }
    assert _composed({"text_config": short, "model_type": "gemma3"}, 262144).lengths.original == 16384
    assert _composed(falcon, 8192, original=4096).lengths.original == 4096
