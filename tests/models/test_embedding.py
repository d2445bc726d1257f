"""Token embeddings: what is looked up, projected and scaled, and the way back to logits."""

import pytest
import torch

from gnomon.errors import GnomonError, ShapeError
from gnomon.models import EmbeddingOptions, TokenEmbedding
from gnomon.models.options import Scale
from tests.helpers.weights import normal, redraw, token_ids

VOCABULARY, DIM = 11, 16
FACTORS: dict[Scale, float] = {"none": 1.0, "sqrt_dim": 4.0, "dim": 16.0}


@pytest.mark.parametrize("scale", FACTORS)
@pytest.mark.parametrize("width", [None, 16, 5])
def test_embeddings_are_table_rows_projected_and_scaled_by_the_width_of_the_model(
    scale: Scale, width: int | None
) -> None:
    module = TokenEmbedding(VOCABULARY, DIM, EmbeddingOptions(scale=scale, width=width))
    redraw(module)
    ids, table = token_ids(2, 7, vocabulary=VOCABULARY), module.words.weight.tolist()
    weight = module.projection.weight.tolist() if isinstance(module.projection, torch.nn.Linear) else None
    for row, out in zip(ids.tolist(), module(ids).tolist(), strict=True):
        for token, vector in zip(row, out, strict=True):
            plain = table[token]
            if weight is not None:
                plain = [sum(w * x for w, x in zip(line, plain, strict=True)) for line in weight]
            assert vector == pytest.approx([x * FACTORS[scale] for x in plain], abs=1e-5)


@pytest.mark.parametrize("width", [None, 5])
def test_logits_come_from_the_same_table_without_a_scale(width: int | None) -> None:
    module = TokenEmbedding(VOCABULARY, DIM, EmbeddingOptions(scale="none", width=width))
    scaled = TokenEmbedding(VOCABULARY, DIM, EmbeddingOptions(scale="dim", width=width))
    redraw(module)
    scaled.load_state_dict(module.state_dict())
    x = normal(2, 3, DIM)
    every_word = module(torch.arange(VOCABULARY)[None])[0]
    expected = torch.einsum("bsw,vw->bsv", x.double(), every_word.double()).float()
    torch.testing.assert_close(module.logits(x), expected)
    torch.testing.assert_close(scaled.logits(x), expected)


@pytest.mark.parametrize(("width", "expected"), [(None, 11 * 16), (5, 11 * 5 + 5 * 16)])
def test_a_narrow_table_saves_parameters(width: int | None, expected: int) -> None:
    module = TokenEmbedding(VOCABULARY, DIM, EmbeddingOptions(width=width))
    assert sum(p.numel() for p in module.parameters()) == expected


def test_fresh_embeddings_under_sqrt_dim_have_variance_one() -> None:
    torch.manual_seed(0)
    module = TokenEmbedding(400, 100, EmbeddingOptions(scale="sqrt_dim"))
    assert module(torch.arange(400)[None]).std().item() == pytest.approx(1.0, abs=0.02)


@pytest.mark.usefixtures("unchecked")
def test_an_unknown_scale_or_an_empty_table_is_refused() -> None:
    with pytest.raises(GnomonError, match="none, sqrt_dim, dim, got 'half'"):
        EmbeddingOptions(scale="half")  # type: ignore[arg-type]
    with pytest.raises(ShapeError, match="got 0"):
        EmbeddingOptions(width=0)
