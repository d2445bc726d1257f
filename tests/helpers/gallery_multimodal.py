"""A tiny Qwen2-VL with an example that holds an image: text, sixteen patches merged to 2 x 2 tokens, text."""

from typing import Any

import torch
from torch import Tensor

IMAGE, VIDEO, VISION_START, VISION_END = 60, 61, 62, 63
PATCHES = 16


def qwen2_vl(kind: type | None = None) -> Any:
    """The model with random weights; `kind`: a subclass of transformers' Qwen2VLForConditionalGeneration."""
    import transformers

    torch.manual_seed(0)
    text = {
        "vocab_size": 64,
        "hidden_size": 32,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "intermediate_size": 48,
        "max_position_embeddings": 128,
        "pad_token_id": 0,
        "bos_token_id": 1,
        "eos_token_id": 2,
        "rope_parameters": {"rope_type": "default", "rope_theta": 700.0, "mrope_section": [1, 1, 2]},
    }
    vision = {
        "depth": 1,
        "embed_dim": 16,
        "hidden_size": 32,
        "num_heads": 2,
        "patch_size": 2,
        "spatial_merge_size": 2,
        "in_channels": 3,
        "mlp_ratio": 2,
        "temporal_patch_size": 1,
    }
    config = transformers.Qwen2VLConfig(
        text_config=text,
        vision_config=vision,
        image_token_id=IMAGE,
        video_token_id=VIDEO,
        vision_start_token_id=VISION_START,
        vision_end_token_id=VISION_END,
    )
    return (kind or transformers.Qwen2VLForConditionalGeneration)(config).eval()


def qwen2_vl_with(inner: type) -> Any:
    """The model whose inner Qwen2VLModel is of this class."""
    model = qwen2_vl()
    model.model.__class__ = inner
    return model


def qwen2_5_vl(inner: type | None = None) -> Any:
    """A tiny Qwen2.5-VL without a head, whose videos have two steps of time a second, with an example of a video."""
    from tests.helpers.tiny_transformers import SEEN, tiny_model

    vision = {**SEEN, "tokens_per_second": 2, "out_hidden_size": 32}
    model: Any = tiny_model("qwen2_5_vl", vision_config=vision, image_token_id=50, video_token_id=51)
    model.__class__ = inner or type(model)
    ids = torch.tensor([[5, 6, *[51] * 12, 7, 8]])
    example = {
        "input_ids": ids,
        "pixel_values_videos": torch.randn(48, 24, generator=torch.Generator().manual_seed(0)),
        "video_grid_thw": torch.tensor([[3, 4, 4]]),
        "second_per_grid_ts": torch.tensor([1.0]),
        "mm_token_type_ids": 2 * (ids == 51).int(),
    }
    return model, example


def with_an_image() -> dict[str, Tensor]:
    """Forward arguments: three tokens, a 1 x 4 x 4 grid of patches as four tokens, three tokens."""
    ids = torch.tensor([[5, 6, VISION_START, *[IMAGE] * 4, VISION_END, 7, 8]])
    return {
        "input_ids": ids,
        "pixel_values": torch.randn(PATCHES, 12, generator=torch.Generator().manual_seed(0)),
        "image_grid_thw": torch.tensor([[1, 4, 4]]),
        "mm_token_type_ids": (ids == IMAGE).int(),
    }
