"""PE514: position ids of a batch that lost their meaning."""

import pytest
import torch
from torch import Tensor

from tests.helpers.toys import Toy, examine, llama, only_finding

LONG = torch.arange(512)[None]


def batch(ids: Tensor, **more: Tensor) -> list[dict[str, Tensor]]:
    return [{"tokens": torch.zeros(ids.shape[-2:], dtype=torch.int64), "position_ids": ids, **more}]


@pytest.mark.parametrize(("dtype", "distinct"), [(torch.bfloat16, 385), (torch.float8_e5m2, None)])
def test_ids_in_low_precision_are_found_with_how_many_stay_apart(dtype: torch.dtype, distinct: int | None) -> None:
    result = examine("PE514", Toy(), batches=batch(LONG.to(dtype)))
    finding = only_finding(result)
    assert (result.severity, finding.where) == ("error", "position_ids")
    # Independent of torch: 0..256 exactly, then every second number, ties to even, up to 512.
    if distinct:
        assert finding.measured["distinct"] == distinct
    assert "keep position ids int64" in finding.fix


def test_half_precision_that_still_tells_them_apart_passes() -> None:
    assert examine("PE514", Toy(), batches=batch(LONG.half())).status == "passed"
    assert examine("PE514", Toy(), batches=batch(torch.arange(200)[None].bfloat16())).status == "passed"


def test_ids_that_are_all_the_same_are_found() -> None:
    assert (
        "all position_ids are 3" in only_finding(examine("PE514", Toy(), batches=batch(torch.full((2, 5), 3)))).message
    )


def test_negative_ids_are_found() -> None:
    assert "go down to -1" in only_finding(examine("PE514", Toy(), batches=batch(torch.arange(5)[None] - 1))).message


def test_ids_that_stand_still_are_a_warning() -> None:
    result = examine("PE514", Toy(), batches=batch(torch.tensor([[0, 1, 1, 2, 3]])))
    assert (result.severity, only_finding(result).measured) == ("warning", {"repeated": 1})


def test_padding_may_have_any_id() -> None:
    mask = torch.tensor([[0, 0, 1, 1, 1]])
    for ids in ([[1, 1, 0, 1, 2]], [[0, 0, 0, 1, 2]], [[-1, -1, 0, 1, 2]]):
        assert examine("PE514", Toy(), batches=batch(torch.tensor(ids), attention_mask=mask)).status == "passed"


@pytest.mark.parametrize("ids", [[[0, 1, 2, 0, 1]], [[4, 9, 10, 77, 80]], [[0, 1, 2, 3, 4]]])
def test_packed_and_spread_ids_pass(ids: list[list[int]]) -> None:
    assert examine("PE514", Toy(), batches=batch(torch.tensor(ids))).status == "passed"


def test_batches_without_ids_are_not_judged() -> None:
    result = examine("PE514", Toy(), batches=[{"tokens": torch.zeros(1, 4, dtype=torch.int64)}])
    assert result.detail == "neither a batch nor the example passes position ids"


def test_the_example_is_read_when_there_are_no_batches() -> None:
    example = {"tokens": torch.zeros(1, 512, dtype=torch.int64), "position_ids": LONG.bfloat16()}
    assert examine("PE514", (Toy(rows=512), example)).status == "failed"


LEFT = torch.tensor([[0, 0, 1, 1, 1], [1, 1, 1, 1, 1]])


@pytest.mark.parametrize(
    ("ids", "said"),
    [
        ([[0, 1, 2, 3, 4], [0, 1, 2, 3, 4]], "after 2 padded slots the first real token has position 2, not 0"),
        ([[0, 0, 1, 2, 3], [1, 2, 3, 4, 5]], "start at 1 in every row: a cumulative sum of the mask without - 1"),
        ([[9, 9, 5, 6, 7], [8, 9, 10, 11, 12]], "run on from row to row: row 1 starts at 8"),
    ],
)
def test_ids_that_begin_elsewhere_are_a_warning_where_positions_are_added(ids: list[list[int]], said: str) -> None:
    given = batch(torch.tensor(ids), attention_mask=LEFT)
    result = examine("PE514", Toy(), batches=given)
    assert result.severity == "warning"
    assert said in only_finding(result).message
    assert "from_mask" in only_finding(result).fix


def test_a_rotation_sees_no_difference() -> None:
    ids = torch.arange(5).expand(2, -1)
    given = [{"input_ids": torch.full((2, 5), 3), "position_ids": ids, "attention_mask": LEFT}]
    assert examine("PE514", llama(), batches=given).status == "passed"


def test_ids_from_the_mask_pass() -> None:
    given = batch(torch.tensor([[0, 0, 0, 1, 2], [0, 1, 2, 3, 4]]), attention_mask=LEFT)
    assert examine("PE514", Toy(), batches=given).status == "passed"
