"""Position ids against counting by hand, one row and one token at a time."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from gnomon import positions
from gnomon.errors import GnomonError, PositionError, ShapeError

MASK_ROWS = st.integers(1, 8).flatmap(
    lambda size: st.lists(st.lists(st.integers(0, 1), min_size=size, max_size=size).filter(any), min_size=1, max_size=4)
)
LENGTHS = st.lists(st.integers(1, 5), min_size=1, max_size=6)


def count_from_mask(row: list[int]) -> list[int]:
    """Padding gets 0, a real token the number of real tokens that came before."""
    seen, ids = 0, []
    for real in row:
        ids.append(seen if real else 0)
        seen += real
    return ids


def count_in_documents(row: list[int], padding_id: int | None) -> list[int]:
    """A token's number is how many tokens before it share its id; padding gets 0."""
    return [0 if item == padding_id else row[:at].count(item) for at, item in enumerate(row)]


def cumulative(lengths: list[int]) -> list[int]:
    return [sum(lengths[:at]) for at in range(len(lengths) + 1)]


@given(MASK_ROWS)
def test_mask_ids_count_the_real_tokens_before(rows: list[list[int]]) -> None:
    ids = positions.from_mask(torch.tensor(rows))
    assert ids.dtype == torch.int64
    assert ids.tolist() == [count_from_mask(row) for row in rows]


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ([0, 0, 1, 1, 1], [0, 0, 0, 1, 2]),
        ([1, 1, 1, 0, 0], [0, 1, 2, 0, 0]),
        ([0, 1, 1, 0, 0], [0, 0, 1, 0, 0]),
        ([1, 1, 1, 1, 1], [0, 1, 2, 3, 4]),
    ],
    ids=["left", "right", "both sides", "none"],
)
def test_padding_on_either_side(row: list[int], expected: list[int]) -> None:
    assert positions.from_mask(torch.tensor([row, [1] * 5])).tolist() == [expected, [0, 1, 2, 3, 4]]


@pytest.mark.parametrize("dtype", [torch.bool, torch.int64, torch.int32, torch.uint8, torch.float32, torch.bfloat16])
def test_masks_of_every_usual_dtype_count_past_what_bfloat16_can(dtype: torch.dtype) -> None:
    ids = positions.from_mask(torch.ones(1, 600, dtype=dtype))
    assert ids.tolist() == [list(range(600))]


@given(MASK_ROWS, st.data())
def test_padding_and_cache_are_the_last_columns_of_the_whole(rows: list[list[int]], data: st.DataObject) -> None:
    new = data.draw(st.integers(1, len(rows[0])))
    ids = positions.after_mask(torch.tensor(rows), new)
    assert ids.tolist() == [count_from_mask(row)[-new:] for row in rows]


@pytest.mark.parametrize("new", [0, 4])
def test_new_must_fit_into_the_mask(new: int) -> None:
    with pytest.raises(PositionError, match=rf"There are 3 columns .* got new={new}"):
        positions.after_mask(torch.ones(2, 3), new)


@given(LENGTHS, st.sampled_from([torch.int32, torch.int64]))
def test_packed_ids_restart_at_each_length(lengths: list[int], dtype: torch.dtype) -> None:
    ends = torch.tensor(cumulative(lengths), dtype=dtype)
    ids, documents = positions.from_lengths(ends), positions.documents_from_lengths(ends)
    assert ids.dtype == documents.dtype == torch.int64
    assert ids.tolist() == [position for length in lengths for position in range(length)]
    assert documents.tolist() == [document for document, length in enumerate(lengths) for _ in range(length)]


@given(LENGTHS, st.data())
def test_packing_and_cache_go_on_after_each_cache(lengths: list[int], data: st.DataObject) -> None:
    caches = data.draw(st.lists(st.integers(0, 9), min_size=len(lengths), max_size=len(lengths)))
    ids = positions.after_lengths(torch.tensor(caches), torch.tensor(cumulative(lengths)))
    assert ids.tolist() == [
        cache + position for cache, length in zip(caches, lengths, strict=True) for position in range(length)
    ]


def test_packing_and_cache_need_one_cache_length_for_each_sequence() -> None:
    with pytest.raises(ShapeError, match="describes 2 sequences but there are 3 cache lengths"):
        positions.after_lengths(torch.tensor([1, 2, 3]), torch.tensor([0, 1, 2]))


@given(LENGTHS, st.integers(0, 3), st.integers(0, 3), st.data())
def test_documents_restart_and_padding_gets_zero(
    lengths: list[int], left: int, right: int, data: st.DataObject
) -> None:
    names = data.draw(st.permutations(range(1, len(lengths) + 1)))
    body = [name for name, length in zip(names, lengths, strict=True) for _ in range(length)]
    row = [-1] * left + body + [-1] * right
    ids = positions.from_documents(torch.tensor([row, row[::-1]]), padding_id=-1)
    assert ids.tolist() == [count_in_documents(row, -1), count_in_documents(row[::-1], -1)]
    new = data.draw(st.integers(1, len(row)))
    assert torch.equal(positions.after_documents(torch.tensor([row]), new, padding_id=-1), ids[:1, -new:])


def test_without_a_padding_id_every_id_is_a_document() -> None:
    assert positions.from_documents(torch.tensor([[0, 0, 3, 3, 3], [7, 7, 7, 7, 2]])).tolist() == [
        [0, 1, 0, 1, 2],
        [0, 1, 2, 3, 0],
    ]


def test_documents_and_lengths_agree() -> None:
    ends = torch.tensor([0, 3, 4, 9])
    documents = positions.documents_from_lengths(ends)
    assert torch.equal(positions.from_documents(documents[None])[0], positions.from_lengths(ends))


@pytest.mark.parametrize("padding_id", [None, 0])
def test_a_document_that_comes_back_is_an_error(padding_id: int | None) -> None:
    rows = torch.tensor([[1, 1, 2, 2, 3], [4, 4, 5, 4, 6]])
    with pytest.raises(PositionError, match="Document 4 comes back later in row 1"):
        positions.from_documents(rows, padding_id=padding_id)


def test_a_document_cut_in_two_by_padding_is_an_error() -> None:
    with pytest.raises(PositionError, match="Document 1 comes back later in row 0"):
        positions.from_documents(torch.tensor([[1, 0, 1, 2]]), padding_id=0)


def test_after_a_cache_of_one_length() -> None:
    ids = positions.after(5, 3)
    assert ids.dtype == torch.int64
    assert ids.tolist() == [[5, 6, 7]]
    assert positions.after(0, 1, device="meta").device.type == "meta"


@pytest.mark.parametrize("dtype", [torch.int32, torch.int64])
def test_after_a_cache_length_for_each_row(dtype: torch.dtype) -> None:
    ids = positions.after(torch.tensor([0, 300], dtype=dtype), 2)
    assert ids.dtype == torch.int64
    assert ids.tolist() == [[0, 1], [300, 301]]


BAD_INPUT = {
    "all-zero row": (lambda: positions.from_mask(torch.tensor([[1, 0], [0, 0]])), "Row 1 of the attention mask has on"),
    "additive mask": (lambda: positions.from_mask(torch.tensor([[0.0, -1e9]])), r"got -1000000000.0 at \(0, 1\)"),
    "NaN mask": (lambda: positions.from_mask(torch.tensor([[1.0, float("nan")]])), r"got nan at \(0, 1\)"),
    "fractional mask": (lambda: positions.from_mask(torch.tensor([[1.0], [0.5]])), r"got 0.5 at \(1, 0\)"),
    "mask with a 2": (lambda: positions.from_mask(torch.tensor([[1, 2]])), "got 2 at"),
    "expanded mask": (lambda: positions.from_mask(torch.ones(2, 1, 3, 3)), r"got shape \(2, 1, 3, 3\)"),
    "flat mask": (lambda: positions.from_mask(torch.ones(3)), r"is \(batch, sequence\), got shape \(3,\)"),
    "empty mask": (lambda: positions.from_mask(torch.ones(2, 0)), r"not one token .* shape is \(2, 0\)"),
    "no rows": (lambda: positions.from_mask(torch.ones(0, 2)), r"not one token .* shape is \(0, 2\)"),
    "plain lengths": (lambda: positions.from_lengths(torch.tensor([3, 5])), "must start at 0, got 3"),
    "falling": (lambda: positions.from_lengths(torch.tensor([0, 5, 3])), "Document 1 ends before .* got 5 and then 3"),
    "empty document": (lambda: positions.from_lengths(torch.tensor([0, 5, 5])), "Document 1 is empty"),
    "negative": (lambda: positions.from_lengths(torch.tensor([0, -2])), "Document 0 ends before it starts"),
    "no document": (lambda: positions.from_lengths(torch.tensor([0])), r"got \[0\]"),
    "float lengths": (lambda: positions.from_lengths(torch.tensor([0.0, 2.0])), "integers, got torch.float32"),
    "two-dimensional lengths": (lambda: positions.from_lengths(torch.ones(1, 2).long()), "must be one-dimensional"),
    "float documents": (lambda: positions.from_documents(torch.ones(1, 2)), "document ids must be integers"),
    "bool documents": (lambda: positions.from_documents(torch.ones(1, 2).bool()), "integers, got torch.bool"),
    "flat documents": (lambda: positions.from_documents(torch.ones(2).long()), r"must be \(batch, sequence\)"),
    "padded row": (
        lambda: positions.from_documents(torch.tensor([[7, 7], [0, 0]]), padding_id=0),
        "Row 1 of the document ids has only padding",
    ),
    "negative cache": (lambda: positions.after(-1, 1), "cannot be negative, got -1"),
    "negative cache in a row": (lambda: positions.after(torch.tensor([3, -4]), 1), "cannot be negative, got -4"),
    "float cache": (lambda: positions.after(torch.tensor([3.0]), 1), "integers, got torch.float32"),
    "scalar tensor": (lambda: positions.after(torch.tensor(3), 1), r"one-dimensional, got shape \(\)"),
    "nothing new": (lambda: positions.after(3, 0), "at least 1 new token, got 0"),
}


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize("name", BAD_INPUT)
def test_bad_input_is_one_clear_sentence(name: str) -> None:
    call, message = BAD_INPUT[name]
    with pytest.raises(PositionError, match=message) as caught:
        call()
    assert isinstance(caught.value, GnomonError)
    assert str(caught.value).endswith((".", "?"))


def test_a_mask_of_booleans_is_taken_as_it_is_and_not_shared() -> None:
    mask = torch.tensor([[False, True]])
    real = positions.real_tokens(mask)
    mask[0, 0] = True
    assert real.tolist() == [[False, True]]
