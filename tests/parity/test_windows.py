"""Swin, Swin v2 and BEiT of transformers with the window bias that gnomon reads from their configs."""

from typing import Any
from unittest import mock

import pytest
import torch
from torch import Tensor

from gnomon.encodings import LogCPB, WindowBias, from_hf_config
from gnomon.positions import grid as places
from tests.helpers.padded import assert_ours, drawn
from tests.helpers.weights import normal, redraw


@torch.no_grad()
def seen(model: Any, pixels: Tensor) -> Tensor:
    result: Tensor = model(pixels).last_hidden_state
    return result


def everywhere(x: Tensor) -> Tensor:
    return torch.ones(x.shape[:2]).bool()


def windowed(config: Any, layer: int, table: Tensor) -> WindowBias:
    encoding = from_hf_config(config, layer)
    assert isinstance(encoding, WindowBias)
    encoding.load_state_dict({"weight": table})
    return encoding


def test_swin_has_a_table_in_each_layer_and_other_heads_in_each_stage() -> None:
    from transformers.models.swin.modeling_swin import SwinRelativePositionBias

    model = drawn({"model_type": "swin"})
    tables = [module for module in model.modules() if isinstance(module, SwinRelativePositionBias)]
    assert [module.relative_position_bias_table.shape[1] for module in tables] == [2, 2, 4, 4]
    for module in tables:
        redraw(module, std=1.0)
    pixels = normal(2, 3, 32, 32)

    def by_gnomon(wrong: bool) -> Tensor:
        def ours(module: Any) -> Tensor:
            encoding = windowed(model.config, tables.index(module), module.relative_position_bias_table)
            rows = places(4, 4)
            return encoding.bias(rows, rows.flip(1) if wrong else rows)

        with mock.patch.object(SwinRelativePositionBias, "forward", ours):
            return seen(model, pixels)

    expected = seen(model, pixels)
    assert_ours(expected, by_gnomon(False), by_gnomon(True), everywhere(expected))


@pytest.mark.parametrize("layer", range(4))
@torch.no_grad()
def test_swin_v2_computes_its_bias_from_the_offset(layer: int) -> None:
    """With query weights of 0 the cosines are 0, and the attention of transformers is the softmax of the bias alone.

    The second stage was trained with windows of 6 and has windows of 8.
    """
    model = drawn({"model_type": "swinv2"})
    attention: Any = [module for name, module in model.named_modules() if name.endswith("attention.self")][layer]
    encoding = from_hf_config(model.config, layer)
    assert isinstance(encoding, LogCPB)
    assert encoding.pretrained_window == (None if layer < 2 else (6, 6))
    for parameter in attention.query.parameters():
        parameter.zero_()
    network = attention.continuous_position_bias_mlp
    wrong = LogCPB(encoding.num_heads, window=(8, 8), pretrained_window=(4, 4))
    weights = {"hidden.weight": network[0].weight, "hidden.bias": network[0].bias, "output.weight": network[2].weight}
    probabilities = attention(normal(2, 64, attention.all_head_size), output_attentions=True)[1][:1]
    found = []
    for made in (encoding, wrong):
        made.load_state_dict(weights)
        found.append(made.bias(places(8, 8), places(8, 8)).softmax(-1))
    assert_ours(probabilities, found[0], found[1], torch.ones_like(probabilities).bool())


@pytest.mark.parametrize("shared", [True, False])
def test_beit_has_rows_of_its_own_for_the_class_token(shared: bool) -> None:
    from transformers.models.beit.modeling_beit import BeitRelativePositionBias

    options: dict[str, Any] = {"use_relative_position_bias": not shared, "use_shared_relative_position_bias": shared}
    options |= {"use_absolute_position_embeddings": False, "image_size": 20}
    model = drawn({"model_type": "beit", **options})
    tables = [module for module in model.modules() if isinstance(module, BeitRelativePositionBias)]
    assert len(tables) == (1 if shared else 2)
    for module in tables:
        redraw(module, std=1.0)
    pixels, rows = normal(2, 3, 20, 20), places(5, 5, prefix=1)

    def by_gnomon(wrong: bool) -> Tensor:
        def ours(module: Any, *_: Any, **__: Any) -> Tensor:
            encoding = windowed(model.config, 0, module.relative_position_bias_table)
            return encoding.bias(rows, rows.flip(1) if wrong else rows)

        with mock.patch.object(BeitRelativePositionBias, "forward", ours):
            return seen(model, pixels)

    expected = seen(model, pixels)
    assert_ours(expected, by_gnomon(False), by_gnomon(True), everywhere(expected))


@torch.no_grad()
def test_beit_of_transformers_reads_the_table_of_a_window_that_is_not_square_the_wrong_way_round() -> None:
    """5.24 takes the rows of the table as (width, height), and interpolates that to (height, width). Looked up by its
    own index, (dy + height - 1)(2 width - 1) + dx + width - 1 as published, the table gives gnomon's bias."""
    from transformers.models.beit.modeling_beit import BeitRelativePositionBias

    model = drawn({"model_type": "beit", "use_absolute_position_embeddings": False})  # 3 rows of 5 patches
    module = next(part for part in model.modules() if isinstance(part, BeitRelativePositionBias))
    redraw(module, std=1.0)
    rows, table = places(3, 5, prefix=1), module.relative_position_bias_table
    looked_up = table[module.generate_relative_position_index((3, 5))].permute(2, 0, 1)[None]
    ours = windowed(model.config, 0, table).bias(rows, rows)
    assert_ours(looked_up, ours, module((3, 5)), real=torch.ones_like(ours).bool())
