"""Rotations by several coordinates: DINOv3 and the text and image models of Qwen2-VL and Qwen3-VL, turned by gnomon."""

import pytest
import torch
from torch import Tensor

from gnomon.encodings import AxialRotary, MRoPE, from_hf_config
from gnomon.positions import grid as places
from tests.helpers.padded import MASK, PLACES, assert_ours, drawn, hidden
from tests.helpers.transformers_rotation import by, turned
from tests.helpers.weights import normal

#: time, height and width of each token, all three different from one another
APART = torch.stack((PLACES, 2 * PLACES + 1, PLACES.flip(1) + 3), dim=-1)


@pytest.mark.parametrize(
    ("model_type", "sections"),
    [
        ("qwen2_vl_text", [1, 2, 1]),
        ("qwen2_vl_text", [2, 1, 1]),
        ("qwen2_5_vl_text", [1, 1, 2]),
        ("qwen3_vl_text", [2, 1, 1]),
        ("qwen3_vl_moe_text", [2, 1, 1]),
    ],
)
def test_text_among_images_turns_by_three_coordinates(model_type: str, sections: list[int]) -> None:
    rope = {"rope_type": "default", "rope_theta": 700.0, "mrope_section": sections}
    model = drawn({"model_type": model_type, "rope_parameters": rope})
    encodings = [from_hf_config(model.config, layer) for layer in range(2)]
    assert all(isinstance(encoding, MRoPE) for encoding in encodings)
    given = {"position_ids": APART.permute(2, 0, 1), "use_cache": False}

    def by_gnomon(coordinates: Tensor) -> Tensor:
        with turned(model, by(encodings, coordinates)):
            return hidden(model, **given)

    assert_ours(hidden(model, **given), by_gnomon(APART), by_gnomon(APART.roll(1, dims=-1)))


@torch.no_grad()
def test_the_image_model_of_qwen2_vl_turns_by_height_and_width() -> None:
    """Patches come in blocks of 2 x 2, which are merged later; frames do not meet, and have the same places."""
    config = drawn({"model_type": "qwen2_vl"}).config
    encoding = from_hf_config(config, stack="vision")
    assert isinstance(encoding, AxialRotary)
    model = drawn({"model_type": "qwen2_vl_vision"})
    assert from_hf_config(model.config, layer=1).to_json() == encoding.to_json()
    grid = torch.tensor([[2, 4, 6]])
    patches = normal(48, 3 * 2 * 2 * 2)
    blocks = places(4, 6).unflatten(1, (2, 2, 3, 2)).transpose(2, 3).flatten(1, 4)
    expected = model(patches, grid_thw=grid).last_hidden_state
    found = []
    for coordinates in (blocks, blocks.flip(-1)):
        with turned(model, by([encoding], coordinates)):
            found.append(model(patches, grid_thw=grid).last_hidden_state)
    assert_ours(expected, found[0], found[1], torch.ones(len(expected)).bool())


@pytest.mark.parametrize("registers", [0, 3])
@torch.no_grad()
def test_dinov3_turns_by_the_centres_of_its_patches(registers: int) -> None:
    """Class and register tokens have no place. An image of another size is another grid."""
    model = drawn({"model_type": "dinov3_vit", "num_register_tokens": registers})
    stated = from_hf_config(model.config, layer=1)
    assert isinstance(stated, AxialRotary)
    assert stated.grid == (3, 5)
    for height, width in ((3, 5), (4, 2)):
        pixels, rows = normal(2, 3, 4 * height, 4 * width), places(height, width, prefix=1 + registers)
        expected, found = model(pixels).last_hidden_state, []
        for encoding, coordinates in ((stated.resized((height, width)), rows), (stated.resized((9, 9)), rows)):
            with turned(model, by([encoding], coordinates)):
                found.append(model(pixels).last_hidden_state)
        assert_ours(expected, found[0], found[1], torch.ones(expected.shape[:2]).bool())


def test_the_coordinates_of_the_text_differ() -> None:
    time, height, width = APART[MASK.bool()].unbind(-1)
    assert (time != height).all()
    assert (time != width).any()
