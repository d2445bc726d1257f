import math
from typing import Any

import numpy as np
import pytest
import torch

from gnomon.errors import GnomonError
from gnomon.extending.rotary.lengths import trained_length
from gnomon.extending.rotary.reading import read_rotary
from gnomon.extending.searching.rotary import rotary_of, turned
from tests.helpers.tiny_transformers import tiny_model
from tests.helpers.weights import redraw, token_ids

ORIGINAL, LONGEST = 24, 96


def model(model_type: str = "llama", **more: Any) -> Any:
    found = tiny_model(model_type, max_position_embeddings=ORIGINAL, num_key_value_heads=2, **more)
    redraw(found)
    return found


def output(module: Any, length: int) -> torch.Tensor:
    with torch.no_grad():
        found: torch.Tensor = module(token_ids(2, length, vocabulary=50)).last_hidden_state
    return found


@pytest.mark.parametrize("model_type", ["llama", "qwen2", "mistral", "phi3", "gpt_neox"])
@pytest.mark.parametrize("length", [ORIGINAL + 1, 77])
def test_a_list_gives_what_transformers_makes_of_it_as_longrope(model_type: str, length: int) -> None:
    module = model(model_type)
    rotary = rotary_of(module)
    long = [round(1.0 + 0.7 * i, 2) for i in range(rotary.dim // 2)]
    block = {"rope_type": "longrope", "rope_theta": rotary.base, "long_factor": long, "short_factor": [1.0] * len(long)}
    block |= {"original_max_position_embeddings": ORIGINAL, "factor": LONGEST / ORIGINAL}
    if model_type == "gpt_neox":
        block["partial_rotary_factor"] = 0.5
    more = {"original_max_position_embeddings": ORIGINAL} if model_type == "phi3" else {}
    loaded = tiny_model(
        model_type, max_position_embeddings=LONGEST, rope_parameters=block, num_key_value_heads=2, **more
    )
    loaded.load_state_dict(module.state_dict())
    factor = math.sqrt(1 + math.log(LONGEST / ORIGINAL) / math.log(ORIGINAL))
    plain = output(module, length)
    with turned(rotary, rotary.plain / np.array(long), factor):
        found = output(module, length)
    torch.testing.assert_close(found, output(loaded, length), rtol=1e-5, atol=1e-5)
    assert (found - plain).abs().max() > 1e-2
    torch.testing.assert_close(output(module, length), plain, rtol=0, atol=0)


@pytest.mark.parametrize("rope_type", ["dynamic", "longrope"])
def test_a_model_that_looks_at_the_length_does_not_while_it_is_turned_and_does_again_after(rope_type: str) -> None:
    block: dict[str, Any] = {"rope_type": rope_type, "rope_theta": 100.0, "factor": 4.0}
    block |= {"original_max_position_embeddings": ORIGINAL, "long_factor": [9.0] * 4, "short_factor": [1.0] * 4}
    module, same = (model(rope_parameters=dict(block)) for _ in range(2))
    plain = model(rope_parameters={"rope_type": "default", "rope_theta": 100.0})
    rotary = rotary_of(module)
    with turned(rotary, rotary.plain, 1.0):
        torch.testing.assert_close(output(module, 60), output(plain, 60), rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(output(module, 60), output(same, 60), rtol=0, atol=0)
    torch.testing.assert_close(output(module, 20), output(same, 20), rtol=0, atol=0)


def test_an_error_puts_the_frequencies_back_too() -> None:
    module = model()
    before, rotary = output(module, 30), rotary_of(module)
    with pytest.raises(KeyError), turned(rotary, rotary.plain / 3, 1.5):
        raise KeyError
    torch.testing.assert_close(output(module, 30), before, rtol=0, atol=0)


def test_what_a_config_states_is_read() -> None:
    rotary = rotary_of(model(rope_parameters={"rope_type": "default", "rope_theta": 700.0}))
    assert (rotary.base, rotary.dim, rotary.original) == (700.0, 8, ORIGINAL)
    assert rotary.current.tolist() == pytest.approx([1.0] * 4)
    scaled = {"rope_type": "linear", "factor": 4.0, "rope_theta": 700.0, "original_max_position_embeddings": 6}
    rotary = rotary_of(model(rope_parameters=scaled))
    assert rotary.original == 6
    assert rotary.current.tolist() == pytest.approx([4.0] * 4)


def test_the_original_length_may_stand_beside_the_block_as_phi_3_has_it() -> None:
    lists = {"long_factor": [2.0] * 4, "short_factor": [1.0] * 4}
    module = model("phi3", original_max_position_embeddings=9, rope_parameters={"rope_type": "longrope", **lists})
    assert rotary_of(module).original == 9


def test_a_scaled_model_has_to_say_from_which_length() -> None:
    scaled = model(rope_parameters={"rope_type": "linear", "factor": 4.0, "rope_theta": 700.0})
    with pytest.raises(GnomonError, match=r"does not say from which length; give --original"):
        rotary_of(scaled)
    assert rotary_of(scaled, 6).original == 6


def test_the_trained_length_is_that_which_an_extension_counts_from() -> None:
    """YaRN without a stated original length counts from the stated one, as `extend` does."""
    scaled = model(rope_parameters={"rope_type": "yarn", "factor": 4.0, "rope_theta": 700.0})
    assert rotary_of(scaled).original == trained_length(read_rotary(scaled.config.to_dict())) == ORIGINAL  # type: ignore[arg-type]


@pytest.mark.parametrize("model_type", ["bert", "gpt2", "gptj"])
def test_a_model_without_such_a_part_is_refused(model_type: str) -> None:
    with pytest.raises(GnomonError, match="has no rotary part of transformers"):
        rotary_of(model(model_type))


def test_frequencies_for_each_kind_of_layer_are_refused() -> None:
    with pytest.raises(GnomonError, match="frequencies for each kind of layer"):
        rotary_of(model("gemma3_text"))


def test_pairs_that_stand_are_refused() -> None:
    block = {"rope_type": "proportional", "rope_theta": 100.0, "partial_rotary_factor": 0.5, "factor": 1.0}
    with pytest.raises(GnomonError, match="pairs that do not turn"):
        rotary_of(model(rope_parameters=block), 24)
