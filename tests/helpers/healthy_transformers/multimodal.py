"""Models of text with images or boxes: two towers, images among tokens, rotary by coordinate."""

from typing import Any

from tests.helpers.healthy_transformers.decoders import HEADED
from tests.helpers.healthy_transformers.encoders import BOXES
from tests.helpers.healthy_transformers.row import SIZES, Row, rows
from tests.helpers.healthy_transformers.vision import PATCHES

SIGHT: dict[str, Any] = {
    "depth": 2,
    "hidden_size": 16,
    "embed_dim": 16,
    "num_heads": 2,
    "patch_size": 2,
    "spatial_merge_size": 2,
    "in_channels": 3,
    "intermediate_size": 12,
    "out_hidden_size": 32,
    "fullatt_block_indexes": [1],
}
COORDINATES: dict[str, Any] = {
    **HEADED,
    "rope_parameters": {"rope_type": "default", "rope_theta": 1e4, "mrope_section": [1, 2, 1]},
}
MERGED: dict[str, Any] = {
    "text_config": COORDINATES,
    "vision_config": {**SIGHT, "hidden_size": 32},
    "image_token_id": 50,
    "video_token_id": 51,
    "vision_start_token_id": 52,
    "vision_end_token_id": 53,
}
TOWERS: dict[str, Any] = {"text_config": SIZES, "vision_config": PATCHES, "projection_dim": 16}
LLAVA: dict[str, Any] = {
    "text_config": {**HEADED, "model_type": "llama"},
    "vision_config": {**PATCHES, "model_type": "clip_vision_model"},
    "image_token_id": 50,
}
IDEFICS: dict[str, Any] = {
    "text_config": {**HEADED, "model_type": "llama"},
    "vision_config": {**PATCHES, "image_size": 32},
    "image_token_id": 50,
    "scale_factor": 2,
}

MULTIMODAL: dict[str, Row] = {
    **rows("learned, and learned patches", TOWERS, "CLIPModel", "SiglipModel", "BlipModel", "AltCLIPModel"),
    **rows("learned", SIZES, "CLIPTextModel"),
    **rows("rotary by coordinate", MERGED, "Qwen2VLForConditionalGeneration"),
    **rows(
        "rotary by coordinate",
        {**MERGED, "vision_config": {**SIGHT, "hidden_size": 16, "window_size": 8}},
        "Qwen2_5_VLForConditionalGeneration",
    ),
    **rows("rotary, and learned patches", LLAVA, "LlavaForConditionalGeneration"),
    **rows(
        "rotary, and learned patches",
        IDEFICS,
        "Idefics3ForConditionalGeneration",
        "SmolVLMForConditionalGeneration",
    ),
    **rows(
        "rotary by layer, and learned patches",
        {
            "text_config": {**HEADED, "sliding_window": 16},
            "vision_config": {**PATCHES, "image_size": 32},
            "mm_tokens_per_image": 4,
        },
        "Gemma3ForConditionalGeneration",
    ),
    **rows("learned, boxes and bias by offset", {**BOXES, "input_size": 32, "patch_size": 8}, "LayoutLMv3Model"),
    **rows("learned, with images", {**SIZES, "visual_embedding_dim": 16}, "VisualBertModel"),
}
