"""Numbers of public reports about rotary scaling: what transformers 5 computes there, not what was reported."""

from typing import Any

import numpy as np
import pytest

from gnomon.resolving.stacks.hf5 import TransformersFive
from tests.helpers.stack_readings import KNOWN, Read

STACK = TransformersFive()
LLAMA = {"model_type": "llama", "hidden_size": 64, "num_attention_heads": 2, "max_position_embeddings": 4096}
LATENT = {"qk_rope_head_dim": 32, "qk_nope_head_dim": 64}
YARN = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 1024}


def test_dynamic_scaling_follows_the_sequence() -> None:
    """Bases of Llama 2 with factor 4 at 4,096 and 8,192 tokens, computed by hand from the formula."""
    config = {**LLAMA, "hidden_size": 256, "rope_scaling": {"type": "dynamic", "factor": 4.0}}
    layer = Read(STACK, config).layer()
    for length, base in ((4096, 10_000.0), (8192, 51293.787)):
        slowest = layer.schedule.at(length, length).inverse[-1]
        assert slowest ** (-128 / 126) == pytest.approx(base, rel=1e-6)
    assert "longest sequence" in layer.schedule.switch


def test_llama4_warms_the_layers_that_do_not_turn() -> None:
    """Numbers worked out from ln(floor((p + 1) / 8192) + 1) * 0.1 + 1."""
    read = Read(STACK, KNOWN["llama-4-scout"])
    still = read.layer("layers without rotation")
    assert still.temperature is not None
    found = [still.temperature.at(position) for position in (8190, 8191, 65535)]
    assert found == pytest.approx([1, 1.069315, 1.219722], rel=1e-6)
    assert read.layer("layers with rotation").temperature is None


def test_deepseek_scales_its_softmax() -> None:
    deepseek = {name: Read(STACK, KNOWN[name]).layer().softmax for name in ("deepseek-v3", "deepseek-v2-lite")}
    assert deepseek == pytest.approx({"deepseek-v3": 1.873854, "deepseek-v2-lite": 1.589626}, rel=1e-6)


def test_yarns_factor_is_the_files_own() -> None:
    """transformers#38224: a factor of 4 over 32,768 of 40,960 tokens."""
    read = Read(STACK, KNOWN["qwen3-8b-yarn"])
    assert read.magnitude() == pytest.approx(1.13863, abs=1e-5)
    assert read.multipliers(63) == pytest.approx([0.25])


@pytest.mark.parametrize(
    ("share", "factor", "softmax"),
    [(0.707, 40.0, 1.58963), (1.0, 40.0, 1.873854), (1.0, 16.0, 1.631390)],
)
def test_an_equal_pair_leaves_cos_and_sin_alone_and_scales_softmax(share: float, factor: float, softmax: float) -> None:
    """kekzl/imp#880, transformers#47435."""
    block = {**YARN, "factor": factor, "mscale": share, "mscale_all_dim": share}
    read = Read(STACK, {**LLAMA, **LATENT, "model_type": "deepseek_v3", "rope_scaling": block})
    assert read.magnitude() == 1
    assert read.layer().softmax == pytest.approx(softmax, abs=1e-5)


def test_an_explicit_attention_factor_replaces() -> None:
    """vllm#48351: 1, where a factor of 64 would make it 1.4158883."""
    block = {**YARN, "factor": 64.0}
    assert Read(STACK, {**LLAMA, "rope_scaling": block}).magnitude() == pytest.approx(1.4158883, abs=1e-7)
    assert Read(STACK, {**LLAMA, "rope_scaling": {**block, "attention_factor": 1.0}}).magnitude() == 1


def test_dynamic_scaling_is_off_within_the_trained_length() -> None:
    """vllm#5093, text-generation-inference#816: bases of width 128, trained on 2,048, factor 2, at 4,096 tokens."""
    config = {**LLAMA, "hidden_size": 256, "max_position_embeddings": 2048}
    layer = Read(STACK, {**config, "rope_scaling": {"type": "dynamic", "factor": 2.0}}).layer()
    bases = [layer.schedule.at(n, n).inverse[-1] ** (-128 / 126) for n in (1024, 2048, 4096)]
    assert bases == pytest.approx([10_000, 10_000, 30_527.736749], rel=1e-9)


def test_the_llama3_block_is_not_lost() -> None:
    """unsloth#6197: 29 pairs kept, 6 blended, 29 divided by 8; pair 29 at 0.002167, plain 0.002616."""
    read = Read(STACK, KNOWN["llama-3.1-8b"])
    found = np.array(read.multipliers())
    assert (int(np.isclose(found, 1).sum()), int(np.isclose(found, 0.125).sum())) == (29, 29)
    assert read.layer().schedule.at(1, 1).inverse[29] == pytest.approx(0.002167, abs=5e-7)


def test_gemma3_scales_its_full_layers_and_no_others() -> None:
    """ollama#13452, ferrox#39: position 800 of a full layer turns as 100 would."""
    read = Read(STACK, KNOWN["gemma-3-4b"])
    full, local = (read.layer(kind).schedule.at(1, 1).inverse for kind in ("full_attention", "sliding_attention"))
    assert 800 * full[0] == pytest.approx(100)
    assert local[0] == 1


@pytest.mark.parametrize(
    ("config", "width"),
    [
        ({"model_type": "glm4", "head_dim": 128}, 64),
        ({"model_type": "minimax_m2", "head_dim": 128, "rotary_dim": 64}, 64),
        ({"model_type": "minimax_m2", "head_dim": 128, "partial_rotary_factor": 0.5}, 64),
        ({"model_type": "stablelm"}, 8),
    ],
)
def test_the_rotated_width_by_family_and_key(config: dict[str, Any], width: int) -> None:
    """mlx-lm#1698, vllm#30384, vllm-ascend#7252."""
    assert Read(STACK, {**LLAMA, **config}).layer().rotary_dim == width


def test_linear_scaling_divides_frequencies() -> None:
    """keras-hub#1605: width 8, factor 4."""
    config = {**LLAMA, "hidden_size": 16, "rope_scaling": {"type": "linear", "factor": 4.0}}
    found = Read(STACK, config).layer().schedule.at(1, 1).inverse
    assert found == pytest.approx([0.25, 0.025, 0.0025, 0.00025])
