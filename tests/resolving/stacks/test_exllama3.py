"""ExLlamaV3: YaRN's factor from the two lengths, its own factor on cos and sin, and both spellings of a block."""

from typing import Any

import numpy as np
import pytest

from gnomon.resolving.given import Given
from gnomon.resolving.reading import Wanted
from gnomon.resolving.stacks.exllama3 import ExLlamaThree
from tests.helpers.hostile_configs import endured, hostile_configs, sane
from tests.helpers.stack_readings import KNOWN, Read

STACK = ExLlamaThree()
LLAMA: dict[str, Any] = {
    "model_type": "llama",
    "hidden_size": 256,
    "num_attention_heads": 2,
    "max_position_embeddings": 4096,
}
PAIRS = (23, 24, 28, 32, 36, 39, 40, 41, 63)
#: YaRN multipliers of width 128, base 1e6 and original length 32768 at those pairs, from the paper's formula
BY_1_25 = (1, 0.988235, 0.941176, 0.894118, 0.847059, 0.811765, 0.8, 0.8, 0.8)
BY_4 = (1, 0.955882, 0.779412, 0.602941, 0.426471, 0.294118, 0.25, 0.25, 0.25)


def test_the_snippet_of_the_model_card_gives_longest_over_original() -> None:
    qwen3 = Read(STACK, KNOWN["qwen3-8b-yarn"])
    assert qwen3.multipliers(*PAIRS) == pytest.approx(BY_1_25, abs=1e-6)
    assert qwen3.magnitude() == pytest.approx(1.022314, abs=1e-6)
    assert "longest / original" in qwen3.ignored["rope_scaling.factor"]
    assert Read(STACK, KNOWN["qwen2.5-7b-yarn"]).multipliers() == pytest.approx([1] * 64)


def test_a_file_saved_by_transformers_5_is_read_whole() -> None:
    read = Read(STACK, KNOWN["qwen3-8b-saved-by-v5"])
    assert read.multipliers(*PAIRS) == pytest.approx(BY_4, abs=1e-6)
    assert read.keys()["base"] == "rope_parameters.rope_theta"


@pytest.mark.parametrize(
    ("name", "version", "expected"),
    [
        ("qwen3-8b-attention-factor", "2026-08", 1.0),
        ("qwen3-8b-mscale-pair", "2026-08", 1.022314),
        ("qwen3-8b-mscale-pair", "78b319e", 1.0),
        ("deepseek-v3", "2026-08", 1.0),
        ("ministral-3", "2026-08", 1.0),
        ("gpt-oss-20b", "2026-08", 1.346574),
    ],
)
def test_the_factor_on_cos_and_sin(name: str, version: str, expected: float) -> None:
    """The pair counts in DeepSeek only, but for the versions up to issue 259; `llama_4_scaling_beta` makes it 1."""
    assert Read(STACK, KNOWN[name], version).magnitude() == pytest.approx(expected, abs=1e-6)


def test_the_pair_is_said_to_count_in_deepseek_only() -> None:
    assert "DeepSeek" in Read(STACK, KNOWN["qwen3-8b-mscale-pair"]).ignored["rope_scaling.mscale"]


def test_truncate_is_obeyed() -> None:
    """gpt-oss at pairs 8, 9, 12, 13, 16, 17, 18 with unrounded ends."""
    expected = (1, 0.905551, 0.593227, 0.489119, 0.176795, 0.072688, 0.03125)
    found = Read(STACK, KNOWN["gpt-oss-20b"]).multipliers(8, 9, 12, 13, 16, 17, 18)
    assert found == pytest.approx(expected, abs=1e-6)


def test_softmax_and_temperature() -> None:
    assert Read(STACK, KNOWN["deepseek-v3"]).layer().softmax == pytest.approx(1.873854, abs=1e-6)
    warmth = Read(STACK, KNOWN["ministral-3"]).layer().temperature
    assert warmth is not None
    found = [warmth.at(position) for position in (16383, 16384, 65536, 262143)]
    assert found == pytest.approx([1, 1.069315, 1.160944, 1.277259], rel=1e-6)


def test_longrope_takes_one_list_for_good() -> None:
    """Long where the longest length, or the one set in its place, is above the original one."""
    read = Read(STACK, KNOWN["phi-3-mini-128k"])
    assert read.multipliers(0, length=10, served=131072) == pytest.approx([1 / 1.1])
    assert read.multipliers(0, length=10, served=4096) == pytest.approx([1])
    assert read.magnitude() == pytest.approx(1.190238, abs=1e-6)
    assert Read(STACK, KNOWN["phi-4-mini"]).layer().rotary_dim == 96


@pytest.mark.parametrize("kind", ["dynamic", "ntk", "Llama3", "none"])
def test_an_unknown_kind_is_a_value_error(kind: str) -> None:
    assert "Unknown rope_type" in Read(STACK, {**LLAMA, "rope_scaling": {"type": kind, "factor": 2.0}}).reading.refusal


def test_defaults_of_llama_3s_block() -> None:
    """8, 1, 4 and 8192: 29 pairs kept, 6 blended, 29 divided by 8 at base 5e5 and width 128."""
    found = np.array(Read(STACK, {**LLAMA, "rope_theta": 5e5, "rope_scaling": {"rope_type": "llama3"}}).multipliers())
    assert (int(np.isclose(found, 1).sum()), int(np.isclose(found, 1 / 8).sum())) == (29, 29)
    assert found[29:35] == pytest.approx([0.828168, 0.643743, 0.493507, 0.371122, 0.271425, 0.190211], abs=1e-6)


def test_gemma3_has_a_plain_local_base() -> None:
    read = Read(STACK, KNOWN["gemma-3-4b"])
    assert read.multipliers(0, kind="full_attention") == pytest.approx([0.125])
    assert read.multipliers(0, kind="sliding_attention") == [1]
    assert read.layer("sliding_attention").base == 10_000


def test_rope_type_comes_before_type_and_rope_scaling_before_rope_parameters() -> None:
    block = {"type": "yarn", "rope_type": "linear", "factor": 2.0}
    config = {**LLAMA, "rope_scaling": block, "rope_parameters": {"rope_type": "linear", "factor": 8.0}}
    read = Read(STACK, config)
    assert read.multipliers(0) == [0.5]
    assert read.ignored["rope_scaling.type"] == "rope_scaling.rope_type wins"


def test_glm_turns_half_of_its_head_where_the_file_is_silent() -> None:
    config = {key: value for key, value in KNOWN["glm-4-9b"].items() if key != "partial_rotary_factor"}
    assert Read(STACK, config).layer().rotary_dim == 64


@pytest.mark.parametrize(
    "name", ["pythia-1b", "gpt-j-6b", "falcon-7b", "minicpm4-8b", "hunyuan-dense", "deepseek-v2-lite"]
)
def test_architectures_that_are_not_there(name: str) -> None:
    assert Read(STACK, KNOWN[name]).reading.absent


def test_the_remedy_makes_the_longest_length_original_times_factor() -> None:
    block = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 32768, "rope_theta": 1e6}
    wanted = Wanted("qwen3", "yarn", 1e6, 131072, 128, 128, 4.0, 32768, block)
    remedies = list(STACK.remedies(Given("made", config=KNOWN["qwen3-8b-yarn"]), wanted))
    assert "131072" in remedies[-1].text
    read = Read(STACK, remedies[-1].after.config or {})
    assert read.multipliers(*PAIRS) == pytest.approx(BY_4, abs=1e-6)
    assert read.magnitude() == pytest.approx(1.138629, abs=1e-6)


@pytest.mark.parametrize("version", [version.name for version in STACK.versions])
def test_known_and_hostile_configs_end_with_layers_or_a_sentence(version: str) -> None:
    for config in KNOWN.values():
        sane(Read(STACK, config, version).reading)
    assert 0.05 < endured(STACK, version, hostile_configs()) < 0.95


def test_proportional_frequencies_lie_over_the_whole_head() -> None:
    """exllamav3/util/rope.py at 04458205: int(share * head / 2) pairs turn, the others stand, all over the factor."""
    block = {"rope_type": "proportional", "rope_theta": 1e6, "partial_rotary_factor": 0.25, "factor": 2.0}
    sizes = {"model_type": "llama", "hidden_size": 64, "num_attention_heads": 1, "max_position_embeddings": 64}
    layer = Read(STACK, {**sizes, "rope_parameters": block}).layer()
    expected = [1e6 ** (-2 * pair / 64) / 2 if pair < 8 else 0.0 for pair in range(32)]
    assert (layer.rule, layer.rotary_dim) == ("proportional", 64)
    np.testing.assert_allclose(layer.schedule.at(1, 1).inverse, expected, rtol=1e-12)
