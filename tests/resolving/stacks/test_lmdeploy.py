"""lmdeploy: golden numbers of both engines, TurboMind's ramp and permutation, and files that make no sense."""

from typing import Any

import numpy as np
import pytest

from gnomon.resolving.comparing import compared, effective_layout
from gnomon.resolving.gallery import Entry, gallery
from gnomon.resolving.given import Given
from gnomon.resolving.reading import Wanted
from gnomon.resolving.stacks.hf5 import TransformersFive
from gnomon.resolving.stacks.lmdeploy import LMDeploy
from tests.helpers.hostile_configs import survived
from tests.helpers.stack_readings import (
    G4,
    G32,
    GPT_OSS_EXACT,
    GPT_OSS_PAIRS,
    LLAMA,
    PAIRS,
    ROUNDED,
    base_at,
    known,
    layer,
    magnitude,
    ratios,
    read,
    reasons,
)

STACK = LMDeploy()
TURBOMIND = "turbomind"
YARN = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 512}


def scaled(**block: Any) -> dict[str, Any]:
    return {**LLAMA, "rope_scaling": block}


@pytest.mark.parametrize("version", ["pytorch", TURBOMIND])
@pytest.mark.parametrize("entry", gallery(), ids=lambda entry: entry.name)
def test_every_known_config_is_read_or_has_no_model(entry: Entry, version: str) -> None:
    assert not read(STACK, entry.config, version).refusal


@pytest.mark.parametrize(("name", "cap"), [("qwen2.5-7b-yarn", 32768), ("qwen3-8b-yarn", 40960)])
def test_the_qwen_snippet_is_yarn_in_the_pytorch_engine(name: str, cap: int) -> None:
    reading = read(STACK, known(name))
    assert ratios(layer(reading))[list(PAIRS)] == pytest.approx(ROUNDED, abs=1e-6)
    assert [magnitude(layer(reading)), reading.cap] == pytest.approx([G4, cap], abs=1e-6)


def test_the_pytorch_engine_follows_transformers() -> None:
    given = Given("made", config=known("gpt-oss-20b"))
    found = layer(STACK.reading(given))
    assert ratios(found)[list(GPT_OSS_PAIRS)] == pytest.approx(GPT_OSS_EXACT, abs=1e-6)
    for name in ("gpt-oss-20b", "qwen3-8b-attention-factor", "qwen3-8b-mscale", "qwen3-8b-mscale-pair", "deepseek-v3"):
        config = known(name)
        reference = layer(TransformersFive().reading(Given("made", config=config)))
        assert compared(layer(read(STACK, config)), reference, 131072, 131072).equal


@pytest.mark.parametrize(("name", "wanted"), [("qwen2.5-7b-yarn", None), ("qwen3-8b-yarn", 1.25)])
def test_turbomind_divides_by_the_ratio_of_the_lengths_and_counts_in_the_longest(
    name: str, wanted: float | None
) -> None:
    reading = read(STACK, known(name), TURBOMIND)
    golden = (1, 1, 0.952941, 0.905882, 0.858824, 0.823529, 0.811765, 0.8, 0.8) if wanted else (1,) * 9
    assert ratios(layer(reading))[list(PAIRS)] == pytest.approx(golden, abs=1e-6)
    assert magnitude(layer(reading)) == pytest.approx(G4, abs=1e-6)
    assert "divides frequencies" in reasons(reading).get("rope_scaling.factor", "divides frequencies")


def test_turbominds_ramp_over_the_longest_length() -> None:
    block = {"rope_type": "yarn", "factor": 40.0, "original_max_position_embeddings": 4096}
    config = {**LLAMA, "hidden_size": 128, "max_position_embeddings": 163840, "rope_scaling": block}
    found = ratios(layer(read(STACK, config, TURBOMIND)))
    assert found[:24] == pytest.approx(np.ones(24))
    assert found[[24, 31]] == pytest.approx([0.925, 0.4], abs=1e-6)


def test_turbomind_rounds_the_ends_and_takes_the_final_factor() -> None:
    reading = read(STACK, known("gpt-oss-20b"), TURBOMIND)
    assert reasons(reading)["rope_scaling.truncate"] == "the ends of the ramp are always rounded"
    assert magnitude(layer(reading)) == pytest.approx(G32, abs=1e-6)
    assert magnitude(layer(read(STACK, known("qwen3-8b-attention-factor"), TURBOMIND))) == 1.0
    assert magnitude(layer(read(STACK, known("qwen3-8b-mscale"), TURBOMIND))) == pytest.approx(1.098011, abs=1e-6)


def test_turbomind_takes_the_factor_where_the_file_has_no_original_length() -> None:
    found = layer(read(STACK, scaled(rope_type="yarn", factor=4.0), TURBOMIND))
    assert ratios(found)[-1] == pytest.approx(0.25)


def test_turbomind_puts_rows_in_the_order_that_its_kernel_turns() -> None:
    found = layer(read(STACK, known("llama-2-7b"), TURBOMIND))
    assert (found.layout, effective_layout(found)) == ("interleaved", "half")
    assert "half into interleaved" in found.permuted
    reference = layer(TransformersFive().reading(Given("made", config=known("llama-2-7b"))))
    assert compared(found, reference, 4096, 4096).equal


@pytest.mark.parametrize(("version", "counted"), [("pytorch", "longest sequence"), (TURBOMIND, "length of the prompt")])
def test_dynamic_grows_in_both_engines(version: str, counted: str) -> None:
    found = layer(read(STACK, scaled(rope_type="dynamic", factor=4.0), version))
    assert [base_at(found, n) for n in (2048, 3072, 8192)] == pytest.approx([10000, 30527.736749, 135401.973042])
    assert counted in found.schedule.switch


def test_turbominds_llama3_has_equal_defaults_which_divide_by_zero() -> None:
    config = known("llama-3.1-8b")
    bare = {"rope_type": "llama3", "factor": 8.0, "original_max_position_embeddings": 8192}
    found = layer(read(STACK, {**config, "rope_scaling": bare}, TURBOMIND))
    assert np.isnan(found.schedule.at(1, 1).inverse).all()
    whole = ratios(layer(read(STACK, config, TURBOMIND)))
    assert whole[29:31] == pytest.approx([0.828168, 0.643743], abs=1e-6)
    assert read(STACK, {**config, "rope_scaling": bare}).refusal


@pytest.mark.parametrize(
    ("kind", "pytorch", "turbomind"),
    [
        ("longrope", "", "RuntimeError: unsupported rope type longrope"),
        ("su", "", "RuntimeError: unsupported rope type su"),
        ("proportional", "KeyError: 'proportional'", "RuntimeError: unsupported rope type proportional"),
        ("ntk", "KeyError: 'ntk'", "RuntimeError: unsupported rope type ntk"),
    ],
)
def test_kinds_that_the_engines_do_not_know(kind: str, pytorch: str, turbomind: str) -> None:
    lists = {"short_factor": [1.0] * 64, "long_factor": [2.0] * 64, "original_max_position_embeddings": 512}
    config = scaled(rope_type=kind, factor=2.0, **lists)
    assert (read(STACK, config).refusal, read(STACK, config, TURBOMIND).refusal) == (pytorch, turbomind)


@pytest.mark.parametrize(("length", "short"), [(4096, True), (4097, False)])
def test_longrope_switches_with_the_sequence(length: int, short: bool) -> None:
    config = known("phi-4-mini")
    found = layer(read(STACK, config))
    wanted = config["rope_scaling"]["short_factor" if short else "long_factor"]
    assert 1 / ratios(found, length, 131072) == pytest.approx(wanted)
    assert [magnitude(found), found.rotary_dim] == pytest.approx([1.190238, 96], abs=1e-6)


def test_sections_make_a_plain_rotation_in_both_engines() -> None:
    for version in ("pytorch", TURBOMIND):
        assert layer(read(STACK, known("qwen2-vl-7b"), version)).rule == "default"


@pytest.mark.parametrize(
    ("config", "cap"),
    [({}, 2048), ({"seq_length": 100, "max_seq_len": 300}, 100), ({"rope_scaling": YARN}, 2048)],
)
def test_the_cap_is_the_smallest_of_the_keys(config: dict[str, Any], cap: int) -> None:
    assert read(STACK, {**LLAMA, **config}).cap == cap


@pytest.mark.parametrize("version", ["pytorch", TURBOMIND])
@pytest.mark.parametrize("name", ["qwen3-8b-yarn", "qwen2.5-7b-yarn", "qwen3-8b-mscale"])
def test_remedies_bring_the_wanted_scaling_about(name: str, version: str) -> None:
    config = known(name)
    given = Given("made", config=config)
    reference = layer(TransformersFive().reading(given))
    wanted = Wanted("qwen3", "yarn", 1e6, 131072, 128, 128, 4.0, 32768, {**config["rope_scaling"], "rope_theta": 1e6})
    after = [STACK.reading(remedy.after, STACK.version(version)) for remedy in STACK.remedies(given, wanted)]
    equal = [compared(layer(each), reference, 131072, 131072).equal for each in after]
    assert equal[1 if version == TURBOMIND else 0]
    assert list(STACK.remedies(given, wanted))[1].text.endswith("--session-len 131072")


def test_a_gguf_file_is_not_traced() -> None:
    assert "GGUF" in STACK.reading(Given("made", metadata={"general.architecture": "llama"})).absent


@pytest.mark.parametrize("version", ["pytorch", TURBOMIND])
def test_unwise_files_end_with_a_sentence(version: str) -> None:
    assert 0.05 < survived(STACK, version) < 0.95
