"""Axial rotary equals the vision towers of transformers, timm and rotary-embedding-torch, each with its options."""

import math
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from gnomon.encodings import AxialRotary
from gnomon.encodings.frequencies import Custom, Plain
from gnomon.positions import grid as places
from tests.helpers.peers import timm_rotary
from tests.helpers.rotary_forms import heads_last, scattered
from tests.helpers.weights import normal

BATCH, HEADS, H, W = 2, 3, 3, 5
THETA = {"rope_parameters": {"rope_type": "axial", "rope_theta": 10000.0}}


# The towers of transformers. Their functions take (tokens, axes) and give cos and sin as wide as a head.


def vision(module: Any, name: str, **config: Any) -> Any:
    return getattr(module, name)(SimpleNamespace(head_dim=None, num_attention_heads=1, **THETA, **config))


@pytest.mark.parametrize("family", ["qwen2_vl", "qwen2_5_vl", "qwen3_vl", "glm4v"])
def test_blocks_are_the_vision_towers_of_qwen_and_glm(family: str) -> None:
    module = __import__(f"transformers.models.{family}.modeling_{family}", fromlist=["x"])
    prefix = {"qwen2_vl": "Qwen2VL", "qwen2_5_vl": "Qwen2_5_VL", "qwen3_vl": "Qwen3VL", "glm4v": "Glm4v"}[family]
    tower = vision(module, f"{prefix}VisionRotaryEmbedding", embed_dim=16, hidden_size=16)
    q, k, place = normal(1, HEADS, 9, 16), normal(1, HEADS, 9, 16, seed=2), scattered(7, 11, rows=1)
    theirs = module.apply_rotary_pos_emb_vision(heads_last(q), heads_last(k), *tower(q, place[0]))
    ours = AxialRotary(16)
    torch.testing.assert_close(heads_last(ours.rotate_query(q, place)), theirs[0], atol=1e-5, rtol=0)
    torch.testing.assert_close(heads_last(ours.rotate_key(k, place)), theirs[1], atol=1e-5, rtol=0)


def test_frequencies_of_the_whole_head_are_pixtral() -> None:
    from transformers.models.pixtral import modeling_pixtral as pixtral

    tower = vision(pixtral, "PixtralVisionRotaryEmbedding", hidden_size=16)
    q, k, place = normal(1, HEADS, 9, 16), normal(1, HEADS, 9, 16, seed=2), scattered(7, 11, rows=1)
    theirs = pixtral.apply_rotary_pos_emb(q, k, *tower(q, place[0]), unsqueeze_dim=0)
    ours = AxialRotary(16, spectrum="head")
    torch.testing.assert_close(ours.rotate_query(q, place), theirs[0], atol=1e-5, rtol=0)
    torch.testing.assert_close(ours.rotate_key(k, place), theirs[1], atol=1e-5, rtol=0)
    assert (AxialRotary(16).rotate_query(q, place) - theirs[0]).abs().max() > 0.1


def test_centres_of_a_grid_are_dinov3() -> None:
    from transformers.models.dinov3_vit import modeling_dinov3_vit as dinov3

    config = SimpleNamespace(rope_theta=100.0, hidden_size=48, num_attention_heads=3, image_size=224, patch_size=16)
    tower = dinov3.DINOv3ViTRopePositionEmbedding(config).eval()
    q, k = normal(BATCH, HEADS, 5 + H * W, 16), normal(BATCH, HEADS, 5 + H * W, 16, seed=2)
    cos, sin = tower(torch.zeros(BATCH, 3, 16 * H, 16 * W))
    theirs = dinov3.apply_rotary_pos_emb(q, k, cos, sin)
    ours = AxialRotary(16, coordinates="centres", grid=(H, W), frequencies=Plain(100.0))
    torch.testing.assert_close(ours.rotate_query(q, places(H, W, prefix=5)), theirs[0], atol=1e-5, rtol=0)
    torch.testing.assert_close(ours.rotate_key(k, places(H, W, prefix=5)), theirs[1], atol=1e-5, rtol=0)


def test_width_first_interleaved_is_llama4_whose_patches_count_from_one() -> None:
    from transformers.models.llama4 import modeling_llama4 as llama4

    side = 4
    config = SimpleNamespace(image_size=4 * side, patch_size=4, hidden_size=48, num_attention_heads=3, **THETA)
    tower = llama4.Llama4VisionRotaryEmbedding(config)
    q, k = normal(BATCH, HEADS, side**2 + 1, 16), normal(BATCH, HEADS, side**2 + 1, 16, seed=2)
    theirs = llama4.vision_apply_rotary_emb(q.transpose(1, 2), k.transpose(1, 2), tower(q))
    place = torch.cat((places(side, side) + 1, torch.full((1, 1, 2), -1)), dim=1)  # the class token comes last
    ours = AxialRotary(16, layout="interleaved", order=(1, 0))
    torch.testing.assert_close(ours.rotate_query(q, place).transpose(1, 2), theirs[0], atol=1e-5, rtol=0)
    torch.testing.assert_close(ours.rotate_key(k, place).transpose(1, 2), theirs[1], atol=1e-5, rtol=0)


def test_alternating_width_first_is_kimi() -> None:
    from transformers.models.kimi_k25 import modeling_kimi_k25 as kimi

    tower = vision(kimi, "Kimi_K25VisionRotaryEmbedding", hidden_size=16)
    q, place = normal(1, HEADS, 9, 16), scattered(7, 11, rows=1)
    theirs = kimi.apply_rotary_pos_emb_vision(heads_last(q), heads_last(q), *tower(q, place[0]))[0]
    ours = AxialRotary(16, arrangement="alternating", order=(1, 0))
    torch.testing.assert_close(heads_last(ours.rotate_query(q, place)), theirs, atol=1e-5, rtol=0)


def test_slices_are_gemma4_whose_positions_are_width_and_height() -> None:
    from transformers.models.gemma4 import modeling_gemma4 as gemma4

    tower = vision(gemma4, "Gemma4VisionRotaryEmbedding", hidden_size=16)
    q, place = normal(BATCH, HEADS, 9, 16), scattered(7, 11)
    by_token, theirs_place = q.transpose(1, 2), place.flip(-1)
    theirs = gemma4.apply_multidimensional_rope(by_token, *tower(q, theirs_place), theirs_place).transpose(1, 2)
    ours = AxialRotary(16, arrangement="slices", order=(1, 0))
    torch.testing.assert_close(ours.rotate_query(q, place), theirs, atol=1e-5, rtol=0)


def test_three_axes_that_do_not_fill_the_head_are_minimax() -> None:
    from transformers.models.minimax_m3_vl import modeling_minimax_m3_vl as minimax

    tower = vision(minimax, "MiniMaxM3VLVisionRotaryEmbedding", hidden_size=20)
    q, place = normal(1, HEADS, 9, 20), scattered(4, 7, 11, rows=1)
    theirs = minimax.apply_rotary_pos_emb_vision(heads_last(q), heads_last(q), *tower(q, place[0]))[0]
    ours = AxialRotary(20, axes=3, rotary_dim=18)
    torch.testing.assert_close(heads_last(ours.rotate_query(q, place)), theirs, atol=1e-5, rtol=0)


@pytest.mark.parametrize("half", [False, True])
def test_timm_cat_is_the_form_of_eva(half: bool) -> None:
    timm = timm_rotary()
    q, grid = normal(BATCH, HEADS, H * W, 16), (H, W)
    embed = timm.RotaryEmbeddingCat(16, in_pixels=False, rotate_half=half).get_embed(grid)
    theirs = timm.apply_rot_embed_cat(q, embed, half=half)
    ours = AxialRotary(16, layout="half" if half else "interleaved")
    torch.testing.assert_close(ours.rotate_query(q, places(*grid)), theirs, atol=1e-5, rtol=0)


def test_bands_of_pixels_are_turns_over_the_corners_of_the_grid() -> None:
    """timm and rotary-embedding-torch: frequencies pi x linspace(1, max / 2) over -1 to 1, ends included."""
    from rotary_embedding_torch import RotaryEmbedding
    from rotary_embedding_torch.rotary_embedding_torch import apply_rotary_emb

    timm, q, grid = timm_rotary(), normal(BATCH, HEADS, H * W, 16), (H, W)
    frequencies = Custom((torch.linspace(1.0, 10 / 2, 4, dtype=torch.float64) / 2).tolist())
    ours = AxialRotary(16, coordinates="corners", grid=grid, layout="interleaved", frequencies=frequencies)
    turned = ours.rotate_query(q, places(*grid))
    theirs = timm.apply_rot_embed_cat(q, timm.RotaryEmbeddingCat(16, max_res=10, linear_bands=True).get_embed(grid))
    torch.testing.assert_close(turned, theirs, atol=1e-5, rtol=0)
    axial = RotaryEmbedding(8, freqs_for="pixel", max_freq=10).get_axial_freqs(*grid)
    images = q.unflatten(2, grid)
    torch.testing.assert_close(turned, apply_rotary_emb(axial, images).flatten(2, 3).detach(), atol=1e-5, rtol=0)
    line = AxialRotary(16, coordinates="corners", grid=(1, W), layout="interleaved", frequencies=frequencies)
    axial = RotaryEmbedding(8, freqs_for="pixel", max_freq=10).get_axial_freqs(1, W)
    theirs = apply_rotary_emb(axial, q[:, :, :W].unflatten(2, (1, W))).flatten(2, 3).detach()
    torch.testing.assert_close(line.rotate_query(q[:, :, :W], places(1, W)), theirs, atol=1e-5, rtol=0)


@pytest.mark.parametrize("extents", [(H, W), (2, H, W)])
def test_axial_frequencies_of_rotary_embedding_torch(extents: tuple[int, ...]) -> None:
    from rotary_embedding_torch import RotaryEmbedding
    from rotary_embedding_torch.rotary_embedding_torch import apply_rotary_emb

    q = normal(BATCH, HEADS, math.prod(extents), 8 * len(extents) + 3)
    axial = RotaryEmbedding(8).get_axial_freqs(*extents)
    theirs = apply_rotary_emb(axial, q.unflatten(2, extents)).flatten(2, -2).detach()
    ours = AxialRotary(q.shape[-1], axes=len(extents), rotary_dim=8 * len(extents), layout="interleaved")
    torch.testing.assert_close(ours.rotate_query(q, places(*extents)), theirs, atol=1e-5, rtol=0)
