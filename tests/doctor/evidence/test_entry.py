"""Where additive positions enter, how often, along which axis, and how loud they are."""

import numpy as np
import pytest
import torch
from torch import Tensor

from gnomon.adapters.subject import MissingEvidence
from gnomon.doctor.evidence.additive import additive
from gnomon.doctor.evidence.entry import entry
from gnomon.doctor.evidence.used import used_table
from gnomon.encodings import Learned, Sinusoidal
from tests.helpers.healthy import FOREIGN, decoder, encoder
from tests.helpers.tiny_transformers import tiny_model
from tests.helpers.toys import DIM, Toy, subject_of


class Scaled(Toy):
    """words * a + table * k."""

    def __init__(self, words: float, table: float) -> None:
        super().__init__()
        self.factors = (words, table)

    def embed(self, tokens: Tensor, ids: Tensor) -> Tensor:
        x: Tensor = self.words(tokens) * self.factors[0] + self.positions(ids) * self.factors[1]
        return x


@pytest.mark.parametrize(("words", "table"), [(1, 1), (DIM**0.5, 1), (1, 0.25), (1, 3), (1, -2)])
def test_the_coefficient_of_the_table_is_measured(words: float, table: float) -> None:
    found = entry(subject_of(Scaled(words, table)))
    assert (found.where, found.axis, found.attentions_before, found.shift) == ("layers.0", "sequence", 0, 0)
    assert found.table == "positions.weight"
    assert found.coefficient == pytest.approx(table, rel=1e-4)
    assert found.residual < 1e-4
    assert found.width == DIM


def test_the_ratio_is_that_of_the_vectors_that_were_added() -> None:
    toy = Scaled(2.0, 0.5)
    table = toy.positions.weight.detach()[:23]
    words = toy.words.weight.detach()
    found = entry(subject_of(toy))
    # The token that is repeated is one of the forty: the ratio must be that of one of them.
    sizes = [float(0.5 * table.square().mean().sqrt() / (2.0 * word.square().mean().sqrt())) for word in words]
    assert min(abs(found.ratio - size) for size in sizes) < 1e-6


def test_a_stored_start_after_reserved_rows_is_no_shift() -> None:
    found = entry(subject_of(encoder(Learned(64, 32, padding_offset=2))))
    assert found.shift == 0
    assert found.coefficient == pytest.approx(1, rel=1e-4)


def test_computed_sinusoids_are_recognised_without_a_table() -> None:
    found = entry(subject_of(decoder(Sinusoidal(32, layout="half"))))
    assert found.coefficient == pytest.approx(1, rel=1e-4)
    assert found.table is not None
    assert "half" in found.table


def test_a_model_without_additive_positions_has_no_axis() -> None:
    found = entry(subject_of(FOREIGN["llama"]()))
    assert (found.axis, found.coefficient) == ("none", None)


def test_vectors_that_no_table_explains_have_no_coefficient() -> None:
    class Warped(Toy):
        def embed(self, tokens: Tensor, ids: Tensor) -> Tensor:
            x: Tensor = self.words(tokens) + self.positions(ids).tanh() ** 3
            return x

    found = entry(subject_of(Warped()))
    assert (found.axis, found.coefficient, found.residual) == ("sequence", None, 1.0)


def test_a_table_beside_claims_of_another_kind_is_not_added() -> None:
    assert not additive(subject_of(tiny_model("roformer")))
    assert not additive(subject_of(tiny_model("t5")))
    assert additive(subject_of(FOREIGN["bert"]()))
    assert additive(subject_of(Toy()))


def test_sinusoids_that_nothing_claims_are_seen_at_the_first_block() -> None:
    class Computed(Toy):
        def embed(self, tokens: Tensor, ids: Tensor) -> Tensor:
            angles = ids[..., None] * 10_000.0 ** (-torch.arange(DIM // 2) / (DIM // 2))
            x: Tensor = self.words(tokens) + torch.cat((angles.sin(), angles.cos()), -1)
            return x

    toy = Computed()
    del toy.positions
    assert additive(subject_of(toy))
    used = used_table(subject_of(toy))
    assert used.where == "layers.0"
    np.testing.assert_allclose(used.values[5, 0], np.sin(5), atol=1e-5)
    np.testing.assert_allclose(used.values[7, DIM // 2 + 1], np.cos(7 * 10_000 ** (-1 / 16)), atol=1e-5)


def test_the_table_in_use_is_what_arrives_with_silent_words() -> None:
    toy = Scaled(1.0, 0.5)
    used = used_table(subject_of(toy, trained=True))
    length = len(used.values)
    np.testing.assert_allclose(used.values, 0.5 * toy.positions.weight.detach()[:length].double().numpy(), atol=1e-6)
    assert length >= 32


def test_the_table_in_use_of_a_model_of_vectors_is_what_arrives_for_zeros() -> None:
    import torch.nn as nn

    class Vectors(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            torch.manual_seed(0)
            self.rows = nn.Parameter(torch.randn(40, 16))
            self.blocks = nn.ModuleList([nn.Linear(16, 16)])

        def forward(self, x: Tensor) -> Tensor:
            out: Tensor = self.blocks[0](x + self.rows[: x.shape[1]])
            return out

    vectors = Vectors()
    used = used_table(subject_of((vectors, (torch.randn(2, 12, 16),))))
    np.testing.assert_allclose(used.values[:20], vectors.rows.detach().double().numpy()[:20], atol=1e-6)


def test_a_relative_model_uses_no_table() -> None:
    with pytest.raises(MissingEvidence, match="no positions are added"):
        used_table(subject_of(FOREIGN["bloom"]()))
