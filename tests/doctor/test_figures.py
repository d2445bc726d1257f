"""The figures of a report are drawn from the numbers that the subject holds."""

import math

import numpy as np
import pytest
import torch
from torch import nn

from gnomon.adapters import load_subject
from gnomon.adapters.subject import Subject
from gnomon.doctor.figures import figures
from gnomon.encodings import ALiBi, NoPE, PositionEncoding, Rotary, Sinusoidal
from gnomon.models import Decoder, ModelOptions
from gnomon.plots.figure import Figure, Heatmap, Lines
from tests.helpers.subjects import claim, holding, noise, rotary_claim

TABLE = "position_embeddings.weight"


def heat_map(drawn: tuple[Figure, ...]) -> Heatmap:
    return next(f for f in drawn if isinstance(f, Heatmap) and ("values of" in f.title or "cosines" in f.title))


def decoder(encoding: PositionEncoding) -> nn.Module:
    return Decoder(ModelOptions(vocabulary=30, dim=16, num_heads=2, num_layers=1), encoding=encoding)


def test_a_stored_table_is_drawn_as_it_is() -> None:
    values = noise(20, 6)
    drawn = figures(holding({TABLE: values}))
    assert all(figure.title.startswith(TABLE) for figure in drawn)
    np.testing.assert_array_equal(heat_map(drawn).values, values.double().numpy())


def test_reserved_rows_are_not_drawn() -> None:
    drawn = figures(holding({TABLE: noise(20, 6)}, claims=(claim("learned", TABLE, padding_offset=2),)))
    assert heat_map(drawn).values.shape == (18, 6)


def test_at_most_two_tables_are_drawn() -> None:
    drawn = figures(holding({f"layers.{i}.pos_embed": noise(20, 6, seed=i) for i in range(5)}))
    assert {figure.title.split(":")[0].split(",")[0].split(" ")[0].rstrip(":") for figure in drawn} == {
        "layers.0.pos_embed",
        "layers.1.pos_embed",
    }


@pytest.mark.parametrize(("stated", "length"), [(64, 64), (100_000, 8192), (None, 512), (True, 512)])
def test_a_rotation_is_drawn_over_the_stated_length(stated: int | None, length: int) -> None:
    drawn = figures(Subject("x", config={"max_position_embeddings": stated}, claims=(rotary_claim(8),)))
    assert all("rotary, layers.*.attention" in figure.title for figure in drawn)
    [decay] = [f for f in drawn if isinstance(f, Lines) and "by distance" in f.title]
    # A long axis is thinned to every sixteenth distance.
    assert length - 16 < float(decay.curves[0].x.max()) < length


def test_the_attention_factor_of_a_rule_is_drawn() -> None:
    yarn = rotary_claim(8, kind="yarn", factor=4.0, original_max_length=64)
    [drawn] = [f for f in figures(Subject("x", claims=(yarn,))) if isinstance(f, Heatmap) and "sines" in f.title]
    np.testing.assert_allclose(drawn.values[0], [0.1 * math.log(4) + 1] * 4 + [0.0] * 4)


def test_alibi_is_drawn_from_its_claim() -> None:
    assert figures(Subject("x", claims=(claim("alibi", num_heads=4),)))


def test_the_table_that_a_forward_computes_is_drawn_when_none_is_stored() -> None:
    drawn = figures(load_subject(decoder(Sinusoidal(16))))
    expected = [[math.sin(p), math.cos(p)] for p in range(5)]
    np.testing.assert_allclose(heat_map(drawn).values[:5, :2], expected, atol=1e-6)


@pytest.mark.parametrize("encoding", [Rotary(8), ALiBi(2)])
def test_models_without_added_vectors_are_drawn_from_what_they_claim(encoding: PositionEncoding) -> None:
    assert figures(load_subject(decoder(encoding)))


def test_a_model_without_positions_has_no_figures() -> None:
    assert figures(load_subject(decoder(NoPE()))) == ()
    assert figures(Subject("nothing")) == ()


def test_a_rule_without_a_formula_is_left_out() -> None:
    assert figures(Subject("x", claims=(rotary_claim(8, kind="nonesuch"),))) == ()


@pytest.mark.parametrize("fill", [0.0, 1.0, math.nan, math.inf])
def test_a_broken_table_does_not_stop_the_report(fill: float) -> None:
    values = noise(20, 6)
    values[4:] = fill
    assert isinstance(figures(holding({TABLE: values})), tuple)
    assert isinstance(figures(holding({TABLE: torch.full((20, 6), fill)})), tuple)
