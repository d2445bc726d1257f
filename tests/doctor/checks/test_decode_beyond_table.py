"""PE410: decoding runs past the last row of a position table without being refused or grown for."""

import pytest
import torch
from torch import Tensor

from tests.helpers.gallery_decoding import Learning, Returning, Tabled, tokens
from tests.helpers.healthy import MODELS
from tests.helpers.toys import examine, only_finding


class Grows(Tabled):
    def need(self, new: int, past: int) -> None:
        if past + new > len(self.table):
            self.table = self.built(past + new)


class GrowsWrongly(Grows):
    """Grown rows are those of an interpolated table, and only when a cache is there."""

    def need(self, new: int, past: int) -> None:
        if past and past + new > len(self.table):
            self.table = torch.cat((self.table, self.table[: past + new - len(self.table)]))
        super().need(new, past)


class ClampsBehindTheCache(Learning):
    def embed(self, tokens: Tensor, positions: Tensor) -> Tensor:
        last = len(self.table.weight) - 1
        return super().embed(tokens, positions.clamp(max=last) if int(positions[0, 0]) else positions)


def test_rows_that_are_clamped_behind_the_cache_are_found() -> None:
    result = examine("PE410", tokens(ClampsBehindTheCache(rows=20)))
    finding = only_finding(result)
    assert result.severity == "error"
    assert finding.message.startswith("one pass refuses 22 tokens, as the table has 20 rows, but through the cache 3 ")
    assert finding.fix.endswith("22 tokens need 22 rows; grow, or refuse")


def test_rows_that_grow_to_other_values_behind_the_cache_are_found() -> None:
    finding = only_finding(examine("PE410", tokens(GrowsWrongly(rows=16))))
    assert finding.message.startswith("beyond 16 rows of the table decoding one chunk differs from one pass by ")


def test_tables_that_grow_or_refuse_pass() -> None:
    for target in (Tabled(rows=16), Grows(rows=16), Learning(rows=16)):
        result = examine("PE410", tokens(target))
        assert result.status == "passed", (result.detail, result.findings)
        assert [m.value for m in result.measured] == pytest.approx([0, 0], abs=1e-5)


@pytest.mark.parametrize("name", ["gpt-2", "gpt-j", "opt", "decoder, learned", "decoder, learned, two reserved rows"])
def test_healthy_families_pass(name: str) -> None:
    assert examine("PE410", MODELS[name]()).status == "passed"


@pytest.mark.parametrize("name", ["llama", "bloom"])
def test_computed_positions_have_no_last_row(name: str) -> None:
    result = examine("PE410", MODELS[name]())
    assert result.detail == "no table of positions was seen to be read: they are computed"
    assert examine("PE410", tokens(Returning())).status == "not-applicable"


def test_a_table_too_long_to_fill_is_not_judged() -> None:
    result = examine("PE410", tokens(Learning(rows=2000)))
    assert result.detail == "the position table has 2000 rows; more than 1024 take too long to fill"
