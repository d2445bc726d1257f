"""llama.cpp's converter: what it writes of a config, what it loses, and where each value came from."""

from typing import Any

import numpy as np
import pytest

from gnomon.resolving.readers.llama_cpp.converter import converted
from gnomon.resolving.readers.llama_cpp.writer import Writer
from gnomon.resolving.rules.keys import Keys
from gnomon.resolving.stopping import NoSuchModel, StackStops
from tests.helpers.stack_readings import LLAMA, known

ONE = "rope_freqs.weight"


def convert(config: dict[str, Any], *, new_form: bool = True) -> Writer:
    return converted(Keys(config), new_form=new_form)


def rope(writer: Writer) -> dict[str, Any]:
    return {name.removeprefix("rope."): found.value for name, found in writer.values.items() if "rope." in name}


def test_yarn_is_written_with_everything_but_its_rounding_and_mscale() -> None:
    block = {
        "rope_type": "yarn",
        "factor": 4.0,
        "original_max_position_embeddings": 32768,
        "attention_factor": 1.0,
        "attn_factor": 2.0,
        "beta_fast": 16.0,
        "extrapolation_factor": 1.0,
        "truncate": False,
        "mscale": 0.7,
    }
    writer = convert({**known("qwen3-8b-yarn"), "rope_scaling": block})
    assert rope(writer) == {
        "scaling.type": "yarn",
        "scaling.factor": 4.0,
        "scaling.original_context_length": 32768,
        "scaling.yarn_ext_factor": 1.0,
        "scaling.yarn_attn_factor": 1.0,
        "scaling.yarn_beta_fast": 16.0,
        "freq_base": 1e6,
    }
    assert writer.values["rope.scaling.factor"].key == "rope_scaling.factor"
    lost = {item.key: item.why for item in writer.file.ignored()}
    assert "always rounded" in lost["rope_scaling.truncate"]
    assert "does not write" in lost["rope_scaling.mscale"]
    assert writer.metadata["general.architecture"] == "qwen3"
    assert writer.metadata["qwen3.rope.freq_base"] == 1e6


def test_attn_factor_is_written_for_want_of_attention_factor() -> None:
    block = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 32768, "attn_factor": 2.0}
    writer = convert({**known("qwen3-8b-yarn"), "rope_scaling": block})
    assert rope(writer)["scaling.yarn_attn_factor"] == 2.0


def test_the_divisors_of_llama_3() -> None:
    """(128, 5e5, s 8): 29 kept, 6 blended, 29 divided."""
    divisors = np.array(convert({**known("llama-3.1-8b"), "original_max_position_embeddings": 8192}).factors[ONE])
    assert (divisors == 1).sum() == 29
    assert (divisors == 8).sum() == 29
    expected = [0.828168, 0.643743, 0.493507, 0.371122, 0.271425, 0.190211]
    assert 1 / divisors[29:35] == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize(("outer", "length"), [({}, 8192), ({"original_max_position_embeddings": 4096}, 4096)])
def test_llama_3s_length_comes_from_outside_the_block(outer: dict[str, Any], length: int) -> None:
    config = {**known("llama-3.1-8b"), **outer}
    config["rope_scaling"] = {**config["rope_scaling"], "original_max_position_embeddings": 2048}
    writer = convert(config)
    waves = 2 * np.pi * 5e5 ** (np.arange(64) / 64)
    kept = int((waves < length / 4).sum())
    assert writer.factors[ONE][:kept] == (1.0,) * kept
    assert writer.factors[ONE][kept] > 1
    if not outer:
        assert any(str(length) in note for note in writer.notes)


def test_scout_has_two_equal_ends_and_no_blend() -> None:
    divisors = convert(known("llama-4-scout")).factors[ONE]
    assert sorted(set(divisors)) == [1.0, 16.0]
    assert divisors.count(1.0) == 35


def test_other_models_get_no_divisors_for_llama_3() -> None:
    block = known("llama-3.1-8b")["rope_scaling"]
    writer = convert({**known("qwen3-8b-yarn"), "rope_scaling": block})
    assert not writer.factors
    assert "makes no divisors" in writer.notes[0]


@pytest.mark.parametrize("name", ["llama-2-7b-dynamic", "internlm2-7b"])
def test_dynamic_is_written_as_nothing(name: str) -> None:
    writer = convert(known(name))
    assert not [key for key in writer.values if "scaling" in key]
    assert "dynamic" in writer.notes[0]


def test_an_unknown_kind_is_a_warning() -> None:
    assert convert({**LLAMA, "rope_scaling": {"rope_type": "proportional"}}).notes == [
        "Unknown RoPE type: proportional"
    ]


def test_hunyuans_alpha_is_baked_into_the_base() -> None:
    writer = convert(known("hunyuan-dense"))
    assert writer.values["rope.freq_base"].value == pytest.approx(11158839.925, abs=0.01)
    assert rope(writer)["scaling.type"] == "none"
    assert writer.values["context_length"].value == 262144
    with pytest.raises(StackStops, match="assumptions"):
        convert({**known("hunyuan-dense"), "rope_theta": 5e5})
    without = {**known("hunyuan-dense"), "rope_scaling": {"type": "dynamic", "factor": 1.0}}
    assert convert(without).values["rope.freq_base"].value == pytest.approx(1e4 * 50 ** (128 / 126))


def test_phi_3_has_a_factor_and_lists_but_no_kind() -> None:
    writer = convert(known("phi-4-mini"))
    assert "rope.scaling.type" not in writer.values
    assert rope(writer)["dimension_count"] == 96
    assert rope(writer)["scaling.attn_factor"] == pytest.approx(1.190238, abs=1e-6)
    assert {len(numbers) for numbers in writer.factors.values()} == {48}


def test_minicpm_has_lists_but_no_factor() -> None:
    config = {**known("minicpm4-8b"), "max_position_embeddings": 131072}
    writer = convert(config)
    assert "rope.scaling.attn_factor" not in writer.values
    assert len(writer.factors) == 2
    assert "rope.freq_base" not in writer.values


def test_bases_are_lost_for_gpt_neox_falcon_and_gemma_2() -> None:
    """Falcon 2 has 500042; Pythia conversion fails under transformers 5, which renames rotary_pct."""
    neox = {**known("pythia-1b"), "rotary_emb_base": 50000}
    with pytest.raises(StackStops, match="rotary_pct"):
        convert(neox)
    old = convert(neox, new_form=False)
    assert rope(old) == {"dimension_count": 64}
    falcon = convert({**known("falcon-7b"), "rope_theta": 500042.0, "max_position_embeddings": 8192})
    assert "rope.freq_base" not in falcon.values
    assert falcon.values["context_length"].value == 2048
    assert {item.key for item in falcon.file.ignored()} == {"max_position_embeddings", "rope_theta"}
    assert "rope.freq_base" not in convert({**known("gemma-2-27b"), "rope_theta": 5e5}).values


def test_cohere_is_never_scaled() -> None:
    block = {"rope_type": "linear", "factor": 4.0}
    for name in ("command-r", "command-r7b"):
        assert rope(convert({**known(name), "rope_scaling": block}))["scaling.type"] == "none"
    assert convert(known("command-r")).values["context_length"].value == 131072
    without = {key: value for key, value in known("command-r7b").items() if key != "rotary_pct"}
    with pytest.raises(StackStops, match="rotary_pct"):
        convert(without)


def test_gemma_4_marks_pairs_that_do_not_turn() -> None:
    writer = convert(known("gemma-4-text"))
    assert writer.factors[ONE] == (1.0,) * 64 + (1e30,) * 192
    assert (rope(writer)["freq_base"], rope(writer)["freq_base_swa"]) == (1e6, 1e4)


def test_sections_are_written_for_qwen2_vl() -> None:
    assert rope(convert(known("qwen2-vl-7b")))["dimension_sections"] == [16, 24, 24]


def test_deepseeks_multiplier_is_a_tenth() -> None:
    for name, expected in (("deepseek-v3", 0.1), ("deepseek-v2-lite", 0.0707)):
        writer = convert(known(name))
        assert rope(writer)["scaling.yarn_log_multiplier"] == pytest.approx(expected)
        assert writer.values["attention.key_length_mla"].value == 192


def test_ministral_needs_yarn_and_writes_the_temperature() -> None:
    writer = convert(known("ministral-3"))
    assert rope(writer)["scaling.yarn_log_multiplier"] == 1.0
    assert writer.values["attention.temperature_scale"].value == 0.1
    config = known("ministral-3")
    plain = {**config["rope_parameters"], "type": "default", "rope_type": "default"}
    with pytest.raises(StackStops, match="yarn"):
        convert({**config, "rope_parameters": plain})


def test_a_file_saved_by_transformers_5_had_neither_base_nor_scaling() -> None:
    config = known("qwen3-8b-saved-by-v5")
    assert rope(convert(config))["scaling.type"] == "yarn"
    assert rope(convert(config, new_form=False)) == {"freq_base": 10000.0}


def test_yarn_without_its_length_is_a_key_error_where_the_file_itself_is_read() -> None:
    config = {**known("internlm2-7b"), "rope_scaling": {"type": "yarn", "factor": 4.0}}
    with pytest.raises(StackStops, match="original_max_position_embeddings"):
        convert(config)


def test_models_without_a_converter_are_told() -> None:
    with pytest.raises(NoSuchModel, match="gptj"):
        convert(known("gpt-j-6b"))
