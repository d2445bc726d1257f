"""PE608: positions of ranks."""

from typing import Any

import pytest
import torch

from gnomon.adapters.subject import Subject
from gnomon.doctor import run
from gnomon.positions import shard
from gnomon.report.document import CheckResult


def judge(**shards: Any) -> CheckResult:
    return run("PE608", Subject("ranks", shards=shards))


def cut(length: int, world: int, scheme: Any) -> list[torch.Tensor]:
    return [shard(torch.arange(length)[None], rank, world, scheme) for rank in range(world)]


@pytest.mark.parametrize("scheme", ["contiguous", "zigzag", "round_robin"])
@pytest.mark.parametrize("named", [True, False])
def test_positions_that_were_cut_like_the_tokens_pass(scheme: str, named: bool) -> None:
    more = {"scheme": scheme} if named else {}
    result = judge(positions=cut(16, 4, scheme), length=16, **more)
    assert result.status == "passed", result.findings


def test_the_scheme_is_told_from_the_positions() -> None:
    result = judge(positions=cut(16, 4, "zigzag"))
    assert next(m.value for m in result.measured if m.name == "scheme of the shares") == "zigzag"


def test_another_scheme_than_the_tokens_is_named() -> None:
    result = judge(positions=cut(16, 2, "contiguous"), length=16, scheme="round_robin")
    assert "its own tokens counted from 0" in result.findings[0].message
    assert "those of the contiguous scheme" in result.findings[1].message
    assert result.findings[1].measured["right"] == [1, 3, 5, 7, 9, 11, 13, 15]


@pytest.mark.parametrize("positions", [[[0, 1, 0, 1], [2, 3, 2, 3]], [[0, 1, 4, 5], [2, 3, 6, 7]]])
def test_both_countings_of_packed_rows_are_legal_when_nobody_says_which(positions: list[list[int]]) -> None:
    tokens = [[0, 1, 4, 5], [2, 3, 6, 7]]
    assert judge(positions=positions, tokens=tokens, length=8, documents=[4, 4]).status == "passed"


def test_the_counting_that_the_caller_names_is_held() -> None:
    tokens = [[0, 1, 4, 5], [2, 3, 6, 7]]
    result = judge(positions=tokens, tokens=tokens, length=8, documents=[4, 4], counting="restart")
    assert [f.measured["right"] for f in result.findings] == [[0, 1, 0, 1], [2, 3, 2, 3]]


def test_a_token_that_two_ranks_hold_is_found() -> None:
    result = judge(positions=[[0, 1], [1, 2]], tokens=[[0, 1], [1, 2]], length=3)
    assert result.findings[0].message == "several ranks hold token 1"


def test_a_length_that_the_scheme_does_not_divide_is_not_judged() -> None:
    result = judge(positions=[[0, 1], [2]], length=3, scheme="zigzag")
    assert (result.status, "pad the row to 4" in result.detail) == ("not-applicable", True)


@pytest.mark.parametrize("shards", [None, 3, {}, {"positions": []}])
def test_without_positions_it_says_what_to_pass(shards: Any) -> None:
    subject = Subject("ranks") if shards is None else Subject("ranks", shards=shards)
    result = run("PE608", subject)
    assert result.status == "not-applicable"
    assert result.detail.startswith("pass shards=, a mapping with positions")
