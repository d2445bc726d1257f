"""llama.cpp's runtime on metadata: each step of its order against numbers worked out by hand."""

import math
from typing import Any

import numpy as np
import pytest

from gnomon.resolving.reading import STILL, TURNING, Reading
from gnomon.resolving.stacks.llama_cpp import LlamaCpp
from tests.helpers.gguf_metadata import metadata, read, yarn
from tests.helpers.hostile_configs import sane
from tests.helpers.stack_readings import DEEPSEEK_PAIRS, DEEPSEEK_ROUNDED, G4, PAIRS, ROUNDED, layer, magnitude, ratios

STACK = LlamaCpp()
LONG, SHORT, ONE = "rope_factors_long.weight", "rope_factors_short.weight", "rope_freqs.weight"


def why(reading: Reading, key: str) -> str:
    return next((item.why for item in reading.ignored if item.key == key), "")


def test_the_base_is_ten_thousand_without_a_key() -> None:
    """ollama/ollama#2379: a file without the key of a model trained with another base."""
    reading = read(STACK, metadata("qwen2", rope__freq_base=None))
    found = layer(reading)
    assert found.base == 1e4
    wave = 2 * math.pi / found.schedule.at(1, 1).inverse[-1]
    assert wave == pytest.approx(54410, abs=1)  # 5.06e6 tokens with the base 1e6 of the model card
    right = layer(read(STACK, metadata("qwen2"))).schedule.at(1, 1).inverse[-1]
    assert 2 * math.pi / right == pytest.approx(5.06e6, rel=1e-3)
    assert "rope.freq_base is absent" in reading.notes[0]


def test_a_base_of_zero_makes_no_numbers() -> None:
    inverse = layer(read(STACK, metadata("qwen2", rope__freq_base=0.0))).schedule.at(1, 1).inverse
    assert len(inverse) == 64
    assert np.isnan(inverse).all()


@pytest.mark.parametrize(
    ("more", "divided"),
    [
        ({"rope__scaling__factor": 8.0}, 8),  # no type counts as linear
        ({"rope__scale_linear": 4.0}, 4),
        ({"rope__scaling__factor": 2.0, "rope__scale_linear": 4.0}, 2),
        ({"rope__scaling__factor": 0.0}, 1),
        ({"rope__scaling__type": "none", "rope__scaling__factor": 8.0}, 1),
    ],
)
def test_linear_is_the_kind_for_want_of_another(more: dict[str, Any], divided: float) -> None:
    assert ratios(layer(read(STACK, metadata("qwen2", **more)))) == pytest.approx(np.full(64, 1 / divided))


@pytest.mark.parametrize("kind", ["", "Linear", "dynamic", "llama3"])
def test_an_unknown_kind_ends_the_program(kind: str) -> None:
    assert "GGML_ASSERT" in read(STACK, metadata("qwen2", rope__scaling__type=kind)).refusal


def test_yarn_has_rounded_ends_and_one_factor_on_cos_and_sin() -> None:
    found = layer(read(STACK, yarn("qwen2")))
    assert ratios(found)[list(PAIRS)] == pytest.approx(ROUNDED, abs=1e-6)
    assert magnitude(found) == pytest.approx(G4, abs=1e-6)
    assert found.softmax == 1


def test_yarn_counts_turns_in_the_context_for_want_of_the_original_length() -> None:
    reading = read(STACK, yarn("qwen2", original=None, context_length=40960))
    assert ratios(layer(reading))[[24, 28, 40, 41]] == pytest.approx([1, 0.823529, 0.294118, 0.25], abs=1e-6)
    assert "40960" in reading.notes[0]
    assert "context shift" in read(STACK, yarn("qwen2", original=40960)).notes[0]


def test_the_attention_factor_of_the_file_is_dead_with_yarn_and_attn_factor_is_not() -> None:
    reading = read(STACK, yarn("qwen2", rope__scaling__yarn_attn_factor=1.0, rope__scaling__attn_factor=0.5))
    assert magnitude(layer(reading)) == pytest.approx(G4 / 2, abs=1e-6)
    assert why(reading, "qwen2.rope.scaling.yarn_attn_factor") == "overwritten under YaRN"
    assert any("yarn_attn_factor has no effect" in note for note in reading.notes)
    plain = read(STACK, metadata("qwen2", rope__scaling__attn_factor=0.5))
    assert magnitude(layer(plain)) == 0.5


def test_grok_reads_the_keys_of_yarn_and_the_others_do_not() -> None:
    more: dict[str, Any] = {"rope__scaling__yarn_beta_fast": 8.0, "rope__scaling__yarn_beta_slow": 2.0}
    grok, qwen = read(STACK, yarn("grok", **more)), read(STACK, yarn("qwen2", **more))
    assert ratios(layer(qwen))[list(PAIRS)] == pytest.approx(ROUNDED, abs=1e-6)
    assert not np.allclose(ratios(layer(grok)), ratios(layer(qwen)))
    assert "does not ask for it" in why(qwen, "qwen2.rope.scaling.yarn_beta_fast")


def test_a_weight_of_64_instead_of_1_spoils_the_first_pair() -> None:
    """ikawrakow/ik_llama.cpp#2003: width 64, base 5e5, length 4096, factor 64, extrapolation 64 instead of 1."""
    more: dict[str, Any] = {"attention__key_length": 64, "rope__freq_base": 5e5}
    wrong = layer(read(STACK, yarn("grok", 64.0, 4096, **more, rope__scaling__yarn_ext_factor=64.0), "ik"))
    right = layer(read(STACK, yarn("grok", 64.0, 4096, **more, rope__scaling__yarn_ext_factor=1.0), "ik"))
    assert ratios(wrong)[0] == pytest.approx(63.02, abs=0.01)
    assert ratios(right)[0] == 1


def test_the_fork_multiplies_what_the_file_has() -> None:
    """The factor of the kernel comes on top: 1.138629 squared."""
    held = yarn("grok", rope__scaling__yarn_attn_factor=1.138629)
    assert magnitude(layer(read(STACK, held, "ik"))) == pytest.approx(1.296477, abs=2e-6)
    assert magnitude(layer(read(STACK, held))) == pytest.approx(G4, abs=1e-6)


def test_the_fork_does_not_know_longrope() -> None:
    held = metadata("minicpm", rope__scaling__type="longrope")
    assert "GGML_ASSERT" in read(STACK, held, "ik").refusal
    assert read(STACK, held).serves


@pytest.mark.parametrize("version", ["current", "before-17945", "ik"])
def test_deepseeks_multiplier_goes_into_the_softmax(version: str) -> None:
    more: dict[str, Any] = {
        "attention__key_length": 576,
        "attention__key_length_mla": 192,
        "rope__dimension_count": 64,
        "rope__freq_base": 1e4,
    }
    for multiplier, softmax in ((0.1, 1.873854), (0.0707, 1.589626)):
        held = yarn("deepseek2", 40.0, 4096, **more, rope__scaling__yarn_log_multiplier=multiplier)
        found = layer(read(STACK, held, version))
        assert (found.head_dim, found.rotary_dim, found.layout) == (192, 64, "interleaved")
        assert magnitude(found) == pytest.approx(1.0)
        assert found.softmax == pytest.approx(softmax, abs=1e-6)
        assert ratios(found)[list(DEEPSEEK_PAIRS)] == pytest.approx(DEEPSEEK_ROUNDED, abs=1e-6)


def test_mistral_3_is_right_since_the_cancellation() -> None:
    """ggml-org/llama.cpp#17945: factor 16 and the pair 1/1 make 1."""
    held = yarn("mistral3", 16.0, 16384, rope__scaling__yarn_log_multiplier=1.0, attention__temperature_scale=0.1)
    found = layer(read(STACK, held))
    assert magnitude(found) == pytest.approx(1.0)
    assert magnitude(layer(read(STACK, held, "before-17945"))) == pytest.approx(1.277259, abs=1e-6)
    assert found.temperature is not None
    at = [found.temperature.at(position) for position in (16383, 16384, 65536, 262143)]
    assert at == pytest.approx([1, 1.069315, 1.160944, 1.277259], abs=1e-6)


def test_lists_are_chosen_by_the_context_and_rope_freqs_win() -> None:
    lists = {LONG: (4.0,) * 64, SHORT: (2.0,) * 64}
    held = metadata("phi3", rope__scaling__original_context_length=4096, rope__scaling__attn_factor=1.19)
    reading = read(STACK, held, lists=lists)
    found = layer(reading)
    assert ratios(found, 10, 4096)[0] == 0.5
    assert ratios(found, 10, 4097)[0] == 0.25
    assert magnitude(found) == pytest.approx(1.19)
    assert found.rule == "longrope"
    assert "context" in found.schedule.switch
    one = layer(read(STACK, held, lists={**lists, ONE: (8.0,) * 64}))
    assert ratios(one)[0] == 0.125


def test_llama_loads_two_lists_for_longrope_only() -> None:
    lists = {LONG: (4.0,) * 64, SHORT: (2.0,) * 64}
    assert layer(read(STACK, metadata("llama"), lists=lists)).rule == "default"
    held = metadata("llama", rope__scaling__type="longrope", rope__scaling__original_context_length=4096)
    assert layer(read(STACK, held, lists=lists)).rule == "longrope"


@pytest.mark.parametrize(
    ("held", "lists", "said"),
    [
        (metadata("phi3"), {LONG: (1.0,) * 64, SHORT: (1.0,) * 64}, "without rope.scaling.attn_factor"),
        (metadata("llama"), {ONE: (1.0,) * 64}, "all numbers of rope_freqs are 1"),
    ],
)
def test_what_is_wrong_with_a_file_is_told(held: dict[str, Any], lists: Any, said: str) -> None:
    assert any(said in note for note in read(STACK, held, lists=lists).notes)


@pytest.mark.parametrize("architecture", ["llama", "deci", "falcon"])
def test_whole_heads_have_to_turn(architecture: str) -> None:
    assert "dimension_count is 64" in read(STACK, metadata(architecture, rope__dimension_count=64)).refusal
    assert layer(read(STACK, metadata("qwen2", rope__dimension_count=64))).rotary_dim == 64


def test_gemma_3_has_a_base_of_its_own_for_sliding_layers() -> None:
    """ggml-org/llama.cpp#14367: the factor belongs to the layers that see everything."""
    held = metadata("gemma3", attention__sliding_window=1024, rope__scaling__factor=8.0, rope__scaling__type="linear")
    reading = read(STACK, held)
    full, sliding = layer(reading, "full_attention"), layer(reading, "sliding_attention")
    assert (full.base, ratios(full)[0], full.rule) == (1e6, 0.125, "linear")
    assert (sliding.base, ratios(sliding)[0], sliding.rule) == (1e4, 1, "default")
    other = layer(read(STACK, held, "ik"), "sliding_attention")
    assert (other.base, ratios(other)[0]) == (1e6, 0.125)


def test_every_fourth_layer_does_not_turn() -> None:
    for architecture in ("smollm3", "llama4"):
        reading = read(STACK, metadata(architecture))
        assert [found.kind for found in reading.layers] == [TURNING, STILL]
        assert layer(reading, STILL).rotary_dim == 0
    warmth = layer(reading, STILL).temperature
    assert warmth is not None
    assert [warmth.at(p) for p in (8190, 8191, 65535)] == pytest.approx([1, 1.069315, 1.219722], abs=1e-6)
    assert layer(reading, TURNING).temperature is None


def test_cohere_2_turns_sliding_layers_only() -> None:
    reading = read(STACK, metadata("cohere2"))
    assert layer(reading, "sliding_attention").rotary_dim == 128
    assert layer(reading, "full_attention").rotary_dim == 0


@pytest.mark.parametrize(("blocks", "softmax"), [(46, math.sqrt(128 / 144)), (42, 1.0)])
def test_the_largest_gemma_2_divides_by_another_root(blocks: int, softmax: float) -> None:
    more = {"block_count": blocks, "embedding_length": 4608, "attention__head_count": 32}
    assert layer(read(STACK, metadata("gemma2", **more))).softmax == pytest.approx(softmax)


def test_granites_scale_stands_in_the_file() -> None:
    assert layer(read(STACK, metadata("granite", attention__scale=0.015625))).softmax == pytest.approx(
        0.015625 * math.sqrt(128)
    )


def test_the_width_of_a_head_is_the_division_for_want_of_a_key() -> None:
    held = metadata("qwen2", attention__key_length=None, embedding_length=3584, attention__head_count=28)
    assert layer(read(STACK, held)).head_dim == 128
    assert "lacks" in read(STACK, metadata("qwen2", attention__key_length=None)).refusal


def test_keys_that_nobody_asks_for_are_listed() -> None:
    reading = read(STACK, metadata("qwen2", rope__scaling__finetuned=True, rope__scaling__beta_fast=64.0))
    assert {item.key for item in reading.ignored} == {
        "qwen2.rope.scaling.finetuned",
        "qwen2.rope.scaling.beta_fast",
    }
    assert ("base", "qwen2.rope.freq_base") in {(item.what, item.key) for item in reading.used}
    assert reading.cap == 8192


@pytest.mark.parametrize("name", ["gpt2", "gptj", "glm-dsa", "made-up", ""])
def test_architectures_without_rules_have_no_reading(name: str) -> None:
    assert read(STACK, metadata(name)).absent


@pytest.mark.parametrize("odd", ["text", True, math.nan, math.inf, -1, 0, 0.5, 1e300, 10**30, [], [1], {}], ids=repr)
def test_metadata_that_makes_no_sense_never_raises(odd: Any) -> None:
    lists = {LONG: (4.0,) * 64, SHORT: (0.0,) * 64}
    for held in (yarn("deepseek2", rope__scaling__yarn_log_multiplier=0.1), yarn("grok"), metadata("gemma3"), {}):
        more = {"gemma3.attention.sliding_window": 512, "phi3.rope.scaling.attn_factor": 1.0, **held}
        for key in more:
            for version in STACK.versions:
                sane(read(STACK, {**more, key: odd}, version.name, lists=lists))


def test_olmo_2_never_scales_its_sliding_layers() -> None:
    """2.4g: the scale of sliding layers is 1 there, whatever YaRN does to the others."""
    reading = read(STACK, yarn("olmo2", attention__sliding_window=4096))
    full, sliding = layer(reading, "full_attention"), layer(reading, "sliding_attention")
    assert ratios(full)[-1] == pytest.approx(0.25)
    np.testing.assert_allclose(ratios(sliding), 1)
    assert sliding.schedule.at(1, 1).magnitude == 1
    assert full.schedule.at(1, 1).magnitude == pytest.approx(G4)
    assert len(read(STACK, yarn("olmo2")).layers) == 1


@pytest.mark.parametrize("architecture", ["gemma2", "gpt-oss"])
def test_sliding_layers_take_a_base_of_their_own_where_the_file_has_one(architecture: str) -> None:
    """2.4g: they copy the base and the scale of the others, unless rope.freq_base_swa says otherwise."""
    reading = read(STACK, yarn(architecture, rope__freq_base_swa=5e4))
    full, sliding = layer(reading, "full_attention"), layer(reading, "sliding_attention")
    assert (full.base, sliding.base) == (1e6, 5e4)
    assert ratios(sliding)[-1] == pytest.approx(0.25)
    assert len(read(STACK, yarn(architecture)).layers) == 1


@pytest.mark.parametrize(("finetuned", "width"), [(False, 0), (True, 128), (None, 128)])
def test_granite_may_not_turn_at_all(finetuned: bool | None, width: int) -> None:
    """2.4h: rope.scaling.finetuned switches rotation on and off."""
    assert layer(read(STACK, metadata("granite", rope__scaling__finetuned=finetuned))).rotary_dim == width


def test_glm_4_with_sections_turns_in_halves() -> None:
    """Rope mode by architecture in 2.4: NORMAL, or MROPE with sections."""
    assert layer(read(STACK, metadata("glm4"))).layout == "interleaved"
    assert layer(read(STACK, metadata("glm4", rope__dimension_sections=[16, 24, 24, 0]))).layout == "half"


def test_widths_of_single_layers_in_the_fork_were_not_traced() -> None:
    held = metadata("llama", rope_dim_per_layer=[64, 128])
    assert "rope_dim_per_layer" in read(STACK, held, "ik").absent
    assert read(STACK, held).serves
