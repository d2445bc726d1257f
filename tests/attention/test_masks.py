"""Masks against the rule in words, one pair of slots at a time."""

import itertools

import pytest
import torch

from gnomon.attention import AttentionMask, Sight, allowed
from gnomon.errors import GnomonError, ShapeError

CPU = torch.device("cpu")
REAL = [[0, 0, 1, 1, 1], [1, 1, 1, 0, 0], [0, 0, 0, 0, 0]]
DOCUMENTS = [[4, 4, 4, 9, 9], [0, 1, 1, 1, 2], [7, 7, 8, 8, 8]]


def tail(rows: list[list[int]] | None, new: int) -> torch.Tensor | None:
    return None if rows is None else torch.tensor(rows)[:, -new:]


@pytest.mark.parametrize(
    ("real", "documents", "causal", "queries", "window"),
    list(itertools.product((None, REAL), (None, DOCUMENTS), (True, False), (5, 3, 2, 1), (None, 1, 2, 3, 5))),
)
def test_a_query_sees_real_keys_of_its_document_within_sight_and_itself(
    real: list[list[int]] | None, documents: list[list[int]] | None, causal: bool, queries: int, window: int | None
) -> None:
    newest = AttentionMask.of(tail(real, queries), tail(documents, queries))
    keys = AttentionMask.of(tail(real, 5), tail(documents, 5))
    visible = allowed(newest, keys, lengths=(queries, 5), sight=Sight(causal, window), device=CPU)
    expected = [
        [
            [
                key == query
                or (
                    (real is None or real[row][key] == 1)
                    and (documents is None or documents[row][key] == documents[row][query])
                    and (not causal or key <= query)
                    and (window is None or (query - key < window if causal else abs(query - key) <= window / 2))
                )
                for key in range(5)
            ]
            for query in range(5 - queries, 5)
        ]
        for row in range(3)
    ]
    if visible is None:
        assert all(itertools.chain.from_iterable(itertools.chain.from_iterable(expected)))
    else:
        assert visible.expand(3, 1, queries, 5)[:, 0].tolist() == expected


@pytest.mark.parametrize("causal", [True, False])
def test_a_run_of_queries_in_the_middle_sees_what_it_sees_among_all(causal: bool) -> None:
    mask, sight = AttentionMask.of(torch.tensor(REAL), torch.tensor(DOCUMENTS)), Sight(causal, 3)
    whole = allowed(mask, mask, lengths=(5, 5), sight=sight, device=CPU)
    part = allowed(mask.slots(1, 3), mask, lengths=(2, 5), sight=sight, device=CPU, first=1)
    assert whole is not None
    assert part is not None
    assert torch.equal(part, whole[:, :, 1:3])


def test_a_window_without_a_slot_is_refused() -> None:
    with pytest.raises(GnomonError, match="holds at least 1 slot, got 0"):
        Sight(causal=True, window=0)


def test_nothing_hidden_needs_no_mask() -> None:
    assert allowed(AttentionMask(), AttentionMask(), lengths=(4, 4), sight=Sight(False), device=CPU) is None
    assert allowed(AttentionMask(), AttentionMask(), lengths=(1, 9), sight=Sight(True), device=CPU) is None


@pytest.mark.parametrize("dtype", [torch.bool, torch.int64, torch.int32, torch.uint8, torch.float32])
def test_a_tokenizer_mask_is_read_in_any_dtype(dtype: torch.dtype) -> None:
    real = AttentionMask.of(torch.tensor(REAL).to(dtype)).real
    assert real is not None
    assert real.dtype == torch.bool
    assert real.int().tolist() == REAL


@pytest.mark.parametrize("wrong", [[[0.0, -1e9]], [[0, 2]], [[0.0, float("nan")]]])
def test_a_mask_of_other_numbers_is_refused(wrong: list[list[float]]) -> None:
    with pytest.raises(GnomonError, match=r"holds 1 .or True. for tokens and 0 .or False. for padding"):
        AttentionMask.of(torch.tensor(wrong))


@pytest.mark.parametrize("dtype", [torch.float32, torch.bool])
def test_document_ids_are_integers(dtype: torch.dtype) -> None:
    with pytest.raises(GnomonError, match=str(dtype)):
        AttentionMask.of(documents=torch.tensor(DOCUMENTS).to(dtype))


def test_a_mask_of_all_slots_is_refused_where_the_new_ones_are_wanted() -> None:
    with pytest.raises(ShapeError, match=r"\(3, 5\).*\(3, 2\)"):
        AttentionMask.of(torch.tensor(REAL)).check(3, 2)
    with pytest.raises(ShapeError, match=r"document ids have shape \(3, 5\)"):
        AttentionMask.of(documents=torch.tensor(DOCUMENTS)).check(3, 2)


def test_joining_takes_a_missing_mask_for_real_tokens() -> None:
    padded = AttentionMask.of(torch.tensor([[0, 1]]))
    for first, second, expected in ((padded, AttentionMask(), [0, 1, 1, 1]), (AttentionMask(), padded, [1, 1, 0, 1])):
        joined = first.then(second, lengths=(2, 2)).real
        assert joined is not None
        assert joined.int().tolist() == [expected]
    assert AttentionMask().then(AttentionMask(), lengths=(2, 2)).is_open


def test_documents_given_only_sometimes_are_refused() -> None:
    packed = AttentionMask.of(documents=torch.tensor([[0, 1]]))
    for first, second in ((packed, AttentionMask()), (AttentionMask(), packed)):
        with pytest.raises(GnomonError, match="every call or in none"):
            first.then(second, lengths=(2, 2))
