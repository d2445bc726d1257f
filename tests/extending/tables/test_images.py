"""Folders of image models, extended and compared with what transformers makes of the old ones at run time."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file

from gnomon.adapters.checkpoints.transformers_models import quiet_transformers
from gnomon.encodings.sinusoidal_grid import reference
from gnomon.errors import GnomonError
from gnomon.extending.tables import Options, asked, grid, plan_tables
from gnomon.extending.tables.buffers import window_index
from tests.helpers.extended_folder import config_of, extended, loaded, saved, store
from tests.helpers.tiny_transformers import COMMON, VISION, VOCABULARY
from tests.helpers.weights import normal, token_ids

SQUARE = {"image_size": 20, "patch_size": 4}
TABLE = "embeddings.position_embeddings"


def at_run_time(model: Any, images: torch.Tensor) -> torch.Tensor:
    with torch.no_grad():
        always = "dinov2" in model.config.model_type
        made: torch.Tensor = model(images, **({} if always else {"interpolate_pos_encoding": True}))[0]
        return made


@pytest.mark.parametrize("size", [(7, 7), (7, 4), (3, 9)])
@pytest.mark.parametrize("model_type", ["vit", "deit"])
def test_the_extended_model_is_the_old_one_with_positions_resized_at_run_time(
    tmp_path: Path, model_type: str, size: tuple[int, int]
) -> None:
    model = saved(tmp_path / "model", model_type, **SQUARE)
    output, plan = extended(tmp_path / "model", size)
    images = normal(2, 3, 4 * size[0], 4 * size[1])
    with torch.no_grad():
        made = loaded(output)(images)[0]
    torch.testing.assert_close(made, at_run_time(model, images), rtol=1e-5, atol=1e-5)
    side = 4 * size[0] if size[0] == size[1] else [4 * size[0], 4 * size[1]]
    assert plan.config == {"image_size": side}
    assert bool(plan.drawbacks) == (size[0] != size[1])


@pytest.mark.parametrize("model_type", ["dinov2", "dinov2_with_registers", "beit"])
def test_families_that_resize_in_their_own_way_are_met(tmp_path: Path, model_type: str) -> None:
    more = {"use_relative_position_bias": True, "use_absolute_position_embeddings": True}
    model = saved(tmp_path / "model", model_type, **SQUARE, **(more if model_type == "beit" else {}))
    kind = Options(kind="bilinear") if model_type == "beit" else Options()
    output, _ = extended(tmp_path / "model", (7, 7), options=kind)
    images = normal(2, 3, 28, 28)
    with torch.no_grad():
        made = loaded(output)(images)[0]
    torch.testing.assert_close(made, at_run_time(model, images), rtol=1e-5, atol=1e-5)


def test_a_rectangle_becomes_another_one(tmp_path: Path) -> None:
    saved(tmp_path / "model", "vit")  # 3 x 5 patches
    output, plan = extended(tmp_path / "model", (6, 4))
    old, new = (load_file(folder / "model.safetensors")[TABLE] for folder in (tmp_path / "model", output))
    assert torch.equal(new, grid(old[0], (3, 5), (6, 4), prefix=1)[None])
    assert plan.config == {"image_size": [24, 16]}
    with torch.no_grad():
        assert loaded(output)(normal(2, 3, 24, 16))[0].shape == (2, 25, 32)


@pytest.mark.parametrize("more", [{"use_relative_position_bias": True}, {"use_shared_relative_position_bias": True}])
def test_beit_keeps_neighbours_and_the_rows_of_its_class_token(tmp_path: Path, more: dict[str, bool]) -> None:
    saved(tmp_path / "model", "beit", **{**SQUARE, "use_relative_position_bias": False, **more}, **_no_table())
    output, plan = extended(tmp_path / "model", (8, 8))
    for name in plan.tensors:
        old, new = (load_file(folder / "model.safetensors")[name] for folder in (tmp_path / "model", output))
        assert torch.equal(old[-3:], new[-3:])
        near_old, near_new = old[:-3].reshape(9, 9, -1)[3:6, 3:6], new[:-3].reshape(15, 15, -1)[6:9, 6:9]
        torch.testing.assert_close(near_new, near_old, rtol=0, atol=1e-5)
    with torch.no_grad():
        assert loaded(output)(normal(2, 3, 32, 32))[0].shape == (2, 65, 32)


def test_windows_and_images_of_swin_grow_together(tmp_path: Path) -> None:
    saved(tmp_path / "model", "swin", image_size=16)  # the last stage has 4 x 4 places, one window
    output, plan = extended(tmp_path / "model", (6, 6))
    assert plan.config == {"window_size": 6, "image_size": 24}
    assert {made.shape[0] for made in plan.tensors.values()} == {11 * 11}
    with torch.no_grad():
        assert loaded(output)(normal(2, 3, 24, 24))[0].shape == (2, 36, 16)


def test_stored_indices_of_windows_are_written_anew(tmp_path: Path) -> None:
    saved(tmp_path / "model", "swin")
    store(tmp_path / "model", {"encoder.layers.0.relative_position_index": window_index((4, 4), prefix=False)})
    output, _ = extended(tmp_path / "model", (6, 6))
    made = load_file(output / "model.safetensors")["encoder.layers.0.relative_position_index"]
    assert torch.equal(made, window_index((6, 6), prefix=False))


def test_the_stored_index_of_beit_counts_its_class_token(tmp_path: Path) -> None:
    saved(tmp_path / "model", "beit", **SQUARE, use_relative_position_bias=True, **_no_table())
    name = "encoder.layer.0.relative_position_index"
    store(tmp_path / "model", {name: window_index((5, 5), prefix=True)})
    output, _ = extended(tmp_path / "model", (7, 7))
    assert torch.equal(load_file(output / "model.safetensors")[name], window_index((7, 7), prefix=True))


def test_the_index_of_a_window_is_that_of_transformers() -> None:
    from transformers import BeitConfig
    from transformers.models.beit.modeling_beit import BeitRelativePositionBias

    config = BeitConfig(image_size=20, patch_size=4, hidden_size=32, num_attention_heads=4)
    index = BeitRelativePositionBias(config).generate_relative_position_index((3, 5))
    assert torch.equal(window_index((3, 5), prefix=True), index)


def test_swin_v2_is_told_what_its_network_was_trained_with(tmp_path: Path) -> None:
    model = saved(tmp_path / "model", "swinv2", window_size=4, pretrained_window_sizes=[0, 0])
    output, plan = extended(tmp_path / "model", (8, 8))
    assert not plan.tensors
    assert plan.config == {"window_size": 8, "pretrained_window_sizes": [4, 4]}
    name = "encoder.layers.0.blocks.0.attention.self"
    old, new = model.get_submodule(name).relative_coords_table, loaded(output).get_submodule(name).relative_coords_table
    torch.testing.assert_close(new[:, 4:11, 4:11], old)  # an offset means what it meant


def test_both_towers_of_clip_have_their_own_size(tmp_path: Path) -> None:
    more = {"text_config": COMMON, "vision_config": {**VISION, **SQUARE}, "projection_dim": 8}
    model = saved(tmp_path / "model", "clip", **more)
    words, image = token_ids(2, 9, vocabulary=VOCABULARY), normal(2, 3, 28, 28)
    output, plan = extended(tmp_path / "model", (7, 7))
    assert plan.config == {"vision_config.image_size": 28}
    with torch.no_grad():
        expected = model(input_ids=words, pixel_values=image, interpolate_pos_encoding=True).image_embeds
        made = loaded(output)(input_ids=words, pixel_values=image).image_embeds
    torch.testing.assert_close(made, expected, rtol=1e-5, atol=1e-5)
    plan_of_text = plan_tables(tmp_path / "model", config_of(tmp_path / "model"), to=100)
    assert plan_of_text is not None
    assert plan_of_text.config == {"text_config.max_position_embeddings": 100}
    assert list(plan_of_text.tensors) == ["text_model.embeddings.position_embedding.weight"]


@pytest.mark.parametrize(("model_type", "to"), [("vit", (2, 2)), ("swin", (2, 2))])
def test_a_smaller_size_is_made_and_said(tmp_path: Path, model_type: str, to: tuple[int, int]) -> None:
    more: dict[str, Any] = {"window_size": 4} if model_type == "swin" else dict(SQUARE)
    saved(tmp_path / "model", model_type, **more)
    output, plan = extended(tmp_path / "model", to)
    assert any("are fewer than" in word or "are smaller than" in word for word in plan.drawbacks)
    assert loaded(output)


def test_the_sinusoids_of_a_grid_follow_their_formula(tmp_path: Path) -> None:
    """A table as MAE's code fills it: zeros for the class token, then columns by the width first."""
    model = saved(tmp_path / "model", "vit", image_size=[12, 20])
    with torch.no_grad():
        model.embeddings.position_embeddings.copy_(_fixed((3, 5))[None])
    with quiet_transformers():
        model.save_pretrained(tmp_path / "model")
    output, plan = extended(tmp_path / "model", (7, 4))
    made = load_file(output / "model.safetensors")[TABLE]
    torch.testing.assert_close(made[0], _fixed((7, 4)), rtol=0, atol=1e-6)
    assert "those of 7 x 4 patches follow from the formula, after 1 rows that stay" in plan.words[0]


def test_images_are_brought_to_the_new_size(tmp_path: Path) -> None:
    saved(tmp_path / "model", "vit", **SQUARE)
    path = tmp_path / "model" / "preprocessor_config.json"
    path.write_text(json.dumps({"size": {"height": 20, "width": 20}, "crop_size": 20, "do_resize": True}))
    output, _ = extended(tmp_path / "model", (7, 4))
    size = {"height": 28, "width": 16}
    assert json.loads((output / path.name).read_text()) == {"size": size, "crop_size": size, "do_resize": True}
    path.write_text(json.dumps({"size": {"shortest_edge": 20}, "crop_size": {"height": 20, "width": 20}}))
    plan = plan_tables(tmp_path / "model", config_of(tmp_path / "model"), to=(7, 7))
    assert plan is not None
    held = json.loads(plan.files[path.name])
    assert held == {"size": {"shortest_edge": 28}, "crop_size": {"height": 28, "width": 28}}


@pytest.mark.parametrize(
    ("model_type", "to", "options", "said"),
    [
        ("vit", (5, 5), {}, "a grid of 5 x 5 patches already"),
        ("vit", 2048, {}, "give a grid of patches, or a window"),
        ("swin", 12, {}, "give a grid of patches, or a window"),
        ("vit", (0, 5), {}, "in whole numbers from 1"),
        ("vit", (5, 5, 5), {}, "in whole numbers from 1"),
        ("vit", (7, 7), {"method": "tile"}, "only interpolate serves a grid"),
        ("vit", (7, 7), {"options": Options(kind="cubic")}, "bicubic, bicubic-antialias, bilinear"),
        ("dinov2", (7, 4), {}, "resizes a square table to any image by itself"),
        ("beit", (7, 4), {}, "height and width exchanged"),
        ("swin", (6, 5), {}, "square windows only"),
        ("swin", (4, 4), {}, "windows of 4 x 4 already"),
        ("swin", (6, 6), {"options": Options(kind="linear")}, "geometric, bicubic, bilinear"),
    ],
)
def test_what_cannot_be_is_said_before_anything_is_written(
    tmp_path: Path, model_type: str, to: Any, options: Any, said: str
) -> None:
    saved(tmp_path / "model", model_type, **({} if model_type == "swin" else SQUARE))
    with pytest.raises(GnomonError, match=said):
        plan_tables(tmp_path / "model", config_of(tmp_path / "model"), to=to, **options)


def test_a_square_is_all_that_clip_can_be_given(tmp_path: Path) -> None:
    more = {"text_config": COMMON, "vision_config": {**VISION, **SQUARE}, "projection_dim": 8}
    saved(tmp_path / "model", "clip", **more)
    with pytest.raises(GnomonError, match="clip takes square images only"):
        plan_tables(tmp_path / "model", config_of(tmp_path / "model"), to=(7, 4))


def test_transformers_still_exchanges_the_axes_of_beit() -> None:
    """The reason for a refusal: once this fails, rectangles can be allowed."""
    from transformers import BeitConfig
    from transformers.models.beit.modeling_beit import BeitRelativePositionBias

    bias = BeitRelativePositionBias(
        BeitConfig(image_size=[12, 20], patch_size=4, hidden_size=32, num_attention_heads=4)
    )
    table = normal(*bias.relative_position_bias_table.shape)
    bias.relative_position_bias_table.data.copy_(table)
    rows = table[window_index((3, 5), prefix=True)].permute(2, 0, 1)
    assert not torch.allclose(bias((3, 5))[0], rows, atol=1e-2)


@pytest.mark.parametrize(
    ("text", "size"), [("2048", 2048), ("30x20", (30, 20)), ("480x320px", (30, 20)), (" 7x9 ", (7, 9))]
)
def test_sizes_are_read_as_they_are_written(text: str, size: Any) -> None:
    assert asked(text, {"vision_config": {"image_size": 224, "patch_size": 16}}) == size


@pytest.mark.parametrize(
    ("text", "config", "said"),
    [
        ("30 x 20", {}, "a grid of patches 30x20"),
        ("-5", {}, "a length is 2048|A length is 2048"),
        ("", {}, "A length is 2048"),
        ("2048px", {}, "A length is 2048"),
        ("480x320px", {}, "no image_size and patch_size"),
        ("481x320px", {"image_size": 224, "patch_size": 16}, "take 480x320px"),
    ],
)
def test_other_texts_are_no_sizes(text: str, config: dict[str, Any], said: str) -> None:
    with pytest.raises(GnomonError, match=said):
        asked(text, config)


def _fixed(size: tuple[int, int], width: int = 32) -> torch.Tensor:
    fixed: dict[str, Any] = {"widths": (width // 2, width // 2), "order": (1, 0), "layout": "half"}
    places = [(row, column) for row in range(size[0]) for column in range(size[1])]
    rows = [[reference(place, i, **fixed) for i in range(width)] for place in places]
    return torch.tensor([[0.0] * width, *rows])


def _no_table() -> dict[str, bool]:
    return {"use_absolute_position_embeddings": False}
