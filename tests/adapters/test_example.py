"""Arguments drawn for a model that came without an example: words, images, sounds, boxes, and grids of patches."""

from typing import Any

import pytest
import torch
from torch import nn

from gnomon.adapters.example import draw_example
from gnomon.adapters.subject import MissingEvidence
from tests.helpers.healthy_transformers import ROWS
from tests.helpers.tiny_transformers import tiny_model


def shapes(module: nn.Module) -> dict[str, tuple[int, ...]]:
    return {name: tuple(value.shape) for name, value in draw_example(module).items()}


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        ("ViTModel", {"pixel_values": (2, 3, 32, 32)}),
        ("YolosModel", {"pixel_values": (2, 3, 32, 48)}),
        ("VideoMAEModel", {"pixel_values": (2, 4, 3, 32, 32)}),
        ("CLIPModel", {"input_ids": (2, 12), "pixel_values": (2, 3, 32, 32)}),
        ("LlavaForConditionalGeneration", {"input_ids": (2, 12)}),
        ("LayoutLMModel", {"input_ids": (2, 12), "bbox": (2, 12, 4)}),
        ("LxmertModel", {"input_ids": (2, 12), "visual_feats": (2, 5, 2048), "visual_pos": (2, 5, 4)}),
        ("WhisperModel", {"input_features": (2, 8, 48), "decoder_input_ids": (2, 9)}),
        ("Speech2TextModel", {"input_features": (2, 58, 8), "decoder_input_ids": (2, 9)}),
        ("ASTModel", {"input_values": (2, 48, 16)}),
        ("BartModel", {"input_ids": (2, 12), "decoder_input_ids": (2, 9)}),
    ],
)
def test_shapes_follow_the_config(model: str, expected: dict[str, tuple[int, ...]]) -> None:
    assert shapes(ROWS[model].build()) == expected


def test_a_wave_is_as_long_as_its_convolutions_make_29_frames_of() -> None:
    model: Any = ROWS["Wav2Vec2Model"].build()
    [wave] = draw_example(model).values()
    assert wave.shape == (2, ((29 - 1) * 2 + 3 - 1) * 5 + 10)
    assert model(wave).last_hidden_state.shape[1] == 29


def test_patches_in_a_row_come_with_a_grid_that_is_higher_than_wide() -> None:
    model = tiny_model("qwen2_vl_vision")
    example = draw_example(model)
    assert example["grid_thw"].tolist() == [[1, 8, 6]]
    assert example["hidden_states"].shape[0] == 48
    assert bool(torch.isfinite(model(**example).last_hidden_state).all())


def test_boxes_are_right_way_round_and_within_the_page() -> None:
    boxes = draw_example(ROWS["LayoutLMv3Model"].build())["bbox"]
    assert bool((boxes[..., 2:] > boxes[..., :2]).all())
    assert int(boxes.max()) < 128


def test_the_same_example_is_drawn_every_time() -> None:
    first, second = (draw_example(ROWS["CLIPModel"].build()) for _ in range(2))
    assert all(torch.equal(first[name], second[name]) for name in first)


def test_a_signal_of_an_absurd_size_is_not_drawn() -> None:
    model: Any = ROWS["ViTModel"].build()
    model.config.image_size = 100_000
    with pytest.raises(MissingEvidence, match=r"pixel_values of shape \(3, 100000, 100000\)"):
        draw_example(model)


def test_a_signal_whose_shape_nothing_tells_is_said_to_be_missing() -> None:
    model: Any = ROWS["ASTModel"].build()
    model.config.num_mel_bins = 0
    with pytest.raises(MissingEvidence, match=r"no shape of input_values; pass \(module, example\)"):
        draw_example(model)
