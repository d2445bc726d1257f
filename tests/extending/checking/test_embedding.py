import numpy as np
import pytest
import torch
from torch import Tensor, nn

from gnomon.extending.checking.embedding import PART, PARTS, Embedded, documents, embed, short, vectors
from gnomon.extending.checking.opened import Opened
from gnomon.extending.checking.tokens import Tokens
from tests.helpers.byte_llama import letters


class Bag(nn.Module):
    """A place's vector is its token's: the mean of a row counts its tokens."""

    def forward(self, ids: Tensor) -> Tensor:
        return nn.functional.one_hot(ids, 300).float()


def opened(prefix: tuple[int, ...] = (256,)) -> Opened:
    return Opened("bag", Bag(), Tokens(letters, prefix, (257,)), None, "encoder")


def drawn(rows: int, width: int) -> np.ndarray:
    """Each row from an alphabet of its own for each half, so that halves can be told apart."""
    generator = np.random.default_rng(0)
    halves = [generator.integers(10 * n, 10 * n + 10, size=(1, width // 2)) for n in range(2 * rows)]
    return np.concatenate([np.concatenate(halves[2 * r : 2 * r + 2], axis=1) for r in range(rows)])


def test_a_vector_is_the_mean_over_all_places_of_length_1() -> None:
    rows = np.array([[5, 5, 9], [1, 2, 3]])
    expected = np.zeros((2, 300))
    for row, tokens in enumerate(rows.tolist()):
        for token in (256, *tokens, 257):
            expected[row, token] += 1
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    np.testing.assert_allclose(vectors(opened(), rows), expected, atol=1e-12)


def test_parts_from_beyond_where_a_document_is_cut_are_not_found_and_the_whole_document_finds_them() -> None:
    rows = drawn(12, 1024)
    cut, whole = embed(opened(), rows, most=514), embed(opened(), rows)
    seen = documents(1024, cut, whole, old=512)
    assert seen.found.after == 1.0
    assert seen.found.before is not None
    assert seen.found.before < 0.75
    assert seen.beyond is not None
    assert seen.beyond.before == pytest.approx(1 / 12)  # where nothing is alike, the first document is as good as any
    assert (seen.beyond.after, seen.beyond.direction) == (1.0, 1)
    assert documents(1024, whole, whole, old=None).beyond is None


def test_parts_are_spread_from_the_start_of_a_document_to_its_end() -> None:
    found = embed(opened(), drawn(2, 640))
    assert (found.starts[0], found.starts[-1], len(found.starts)) == (0, 640 - PART, PARTS)


def test_a_part_is_found_where_its_own_document_is_the_nearest() -> None:
    generator = np.random.default_rng(1)
    parts, whole = generator.normal(size=(3, 5, 7)), generator.normal(size=(3, 7))
    found = Embedded(whole, parts, np.arange(5)).found
    for row in range(3):
        for part in range(5):
            scores = [sum(float(parts[row, part, i] * whole[d, i]) for i in range(7)) for d in range(3)]
            assert found[row, part] == float(scores.index(max(scores)) == row)


def test_short_inputs_are_compared_by_cosines() -> None:
    before = np.array([[1.0, 0.0], [0.0, 1.0]])
    after = np.array([[1.0, 0.0], [0.6, 0.8]])
    seen = short(9, before, after)
    assert (seen.length, seen.inputs) == (9, 2)
    assert (seen.mean, seen.lowest) == pytest.approx((0.9, 0.8))


def test_no_gradient_is_kept() -> None:
    class Learned(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.words = nn.Embedding(300, 4)

        def forward(self, ids: Tensor) -> Tensor:
            assert not torch.is_grad_enabled()
            found: Tensor = self.words(ids)
            return found

    found = vectors(Opened("m", Learned(), Tokens(letters), None, "encoder"), np.array([[1, 2, 3]]))
    assert np.linalg.norm(found) == pytest.approx(1.0)
