"""PE211: loud and quiet positions."""

import math

import pytest
import torch
from torch import nn

from gnomon.adapters import load_subject
from gnomon.doctor import run
from gnomon.encodings import Sinusoidal
from gnomon.models import Decoder, EmbeddingOptions, ModelOptions
from tests.helpers.sinusoids import table, vaswani
from tests.helpers.subjects import holding, noise, value

NAME = "size of positions / size of words (RMS)"
POSITIONS, WORDS = "wpe.weight", "wte.weight"


def of_size(rows: int, dims: int, rms: float, seed: int) -> torch.Tensor:
    values = noise(rows, dims, seed=seed).double()
    return values * (rms / values.square().mean().sqrt())


@pytest.mark.parametrize(
    ("ratio", "status"), [(19.9, "passed"), (20.1, "failed"), (0.0101, "passed"), (0.0099, "failed")]
)
def test_the_ratio_may_lie_between_a_hundredth_and_twenty(ratio: float, status: str) -> None:
    tables = {POSITIONS: of_size(20, 8, ratio, 1), WORDS: of_size(50, 8, 1.0, 2)}
    result = run("PE211", holding(tables))
    assert result.status == status
    assert value(result, NAME) == pytest.approx(ratio, rel=1e-9)


def test_loud_positions_are_told_how_to_be_scaled() -> None:
    tables = {POSITIONS: table(vaswani, 30, 8).float(), WORDS: of_size(50, 8, 0.02, 2)}
    result = run("PE211", holding(tables))
    [finding] = result.findings
    assert (result.severity, finding.where) == ("warning", POSITIONS)
    assert finding.message == "positions are 35.4 times the size of words: words drown"
    assert finding.fix == "multiply the word embeddings by sqrt(d), or divide the positions by sqrt(d)"


def test_quiet_positions_are_told_so() -> None:
    tables = {POSITIONS: of_size(20, 8, 1e-3, 1), WORDS: of_size(50, 8, 1.0, 2)}
    [finding] = run("PE211", holding(tables)).findings
    assert finding.message == "positions are 0.001 times the size of words: order drowns"
    assert "scale of 1/d" in finding.fix


def test_a_stated_scale_of_the_words_counts() -> None:
    tables = {POSITIONS: table(vaswani, 30, 64).float(), WORDS: of_size(50, 64, 0.02, 2)}
    scaled = run("PE211", holding(tables, config={"scale_embedding": True}))
    assert scaled.status == "passed"
    assert value(scaled, NAME) == pytest.approx(math.sqrt(0.5) / 0.02 / 8, rel=1e-6)
    assert run("PE211", holding(tables, config={"scale_embedding": False})).status == "failed"


def test_the_table_beside_the_words_is_taken() -> None:
    tables = {
        "model.encoder.embed_positions.weight": of_size(20, 8, 50.0, 1),
        "model.decoder.embed_positions.weight": of_size(20, 8, 0.5, 2),
        "model.decoder.embed_tokens.weight": of_size(50, 8, 1.0, 3),
    }
    assert value(run("PE211", holding(tables)), NAME) == pytest.approx(0.5, rel=1e-9)


def decoder(scale: str, word_scale: str = "none") -> nn.Module:
    torch.manual_seed(0)
    options = ModelOptions(
        vocabulary=40,
        dim=32,
        num_heads=4,
        num_layers=1,
        embedding=EmbeddingOptions(scale=word_scale),  # type: ignore[arg-type]
    )
    return Decoder(options, encoding=Sinusoidal(32, scale=scale))  # type: ignore[arg-type]


def test_a_forward_sees_scales_that_no_table_shows() -> None:
    plain, scaled, words = (
        run("PE211", load_subject(m)) for m in (decoder("none"), decoder("sqrt_dim"), decoder("none", "sqrt_dim"))
    )
    assert value(plain, NAME) == pytest.approx(value(scaled, NAME) * math.sqrt(32), rel=0.01)
    assert value(words, NAME) == pytest.approx(value(scaled, NAME), rel=0.01)


def test_untrained_weights_are_measured_as_they_are() -> None:
    model = decoder("none")
    word = next(m for m in model.modules() if isinstance(m, nn.Embedding)).weight
    expected = math.sqrt(0.5) / float(word.detach().square().mean().sqrt())
    assert value(run("PE211", load_subject(model)), NAME) == pytest.approx(expected, rel=0.4)  # of one word, not of all


def test_numbers_that_are_not_finite_are_left_to_the_check_that_names_them() -> None:
    tables = {POSITIONS: torch.full((20, 8), math.nan), WORDS: noise(50, 8)}
    result = run("PE211", holding(tables))
    assert (result.status, result.detail) == ("not-applicable", "a table holds numbers that are not finite")


def test_missing_tables_are_named() -> None:
    assert run("PE211", holding({POSITIONS: noise(20, 8)})).detail == (
        "no token embedding table by a name the field uses"
    )
    assert run("PE211", holding({WORDS: noise(20, 8)})).detail == "no table of positions among the tensors"


def test_the_table_of_an_image_tower_is_not_held_against_the_words() -> None:
    loud = noise(20, 16, 1.0)
    tensors = {"vision_tower.position_embedding.weight": loud, "language.embed_tokens.weight": noise(50, 16)}
    assert run("PE211", holding(tensors)).status == "not-applicable"
    assert run("PE211", holding({"position_embedding.weight": loud, **tensors})).status == "failed"
