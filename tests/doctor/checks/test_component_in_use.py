"""PE327: a bare position module for long inputs, further calls and other dtypes."""

from typing import Any

import torch
from torch import Tensor

from tests.helpers.components import AlibiBias, PositionalEncoding, RotaryEmbedding
from tests.helpers.toys import Toy, examine, only_finding


class GivesWhatItHas(PositionalEncoding):
    """The rows alone, as many as there are."""

    def forward(self, x: Tensor) -> Tensor:
        rows: Tensor = self.pe[: x.shape[1]]  # type: ignore[index]
        return rows[None]


class SaysSo(PositionalEncoding):
    def forward(self, x: Tensor) -> Tensor:
        if x.shape[1] > 100:
            raise ValueError(f"{x.shape[1]} places are more than the 100 rows of the table")
        return super().forward(x)


class KeepsTheFirst(AlibiBias):
    kept: Tensor | None = None

    def forward(self, seq_len: int) -> Tensor:
        if self.kept is None or self.kept.shape[-1] < seq_len:
            self.kept = super().forward(seq_len)
        return self.kept


class FollowsTheCast(RotaryEmbedding):
    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.register_buffer("inv_freq", super().frequencies())

    def frequencies(self) -> Tensor:
        return self.inv_freq.float()  # type: ignore[union-attr,operator,return-value]


def test_too_few_rows_for_a_long_input_are_named_with_both_numbers() -> None:
    result = examine("PE327", GivesWhatItHas())
    finding = only_finding(result)
    assert result.severity == "warning"
    assert "the longest input is 100 places; with 101 of them 100 rows come out" in finding.message
    assert "a ValueError that names 101 and 100" in finding.fix


def test_an_obscure_error_is_a_note_and_a_clear_one_passes() -> None:
    assert examine("PE327", PositionalEncoding()).severity == "note"
    assert examine("PE327", SaysSo()).status == "passed"


def test_a_table_kept_from_a_longer_call_is_an_error() -> None:
    result = examine("PE327", KeepsTheFirst())
    assert result.severity == "error"
    assert "a call for 10 places gives something else after a call for 17" in only_finding(result).message


def test_frequencies_that_follow_the_module_to_bfloat16_are_a_note() -> None:
    result = examine("PE327", FollowsTheCast())
    finding = only_finding(result)
    assert result.severity == "note"
    assert "are off by" in finding.message
    assert finding.measured["change"] > 0.05
    assert "keep frequencies in float32" in finding.fix


def test_right_modules_pass_and_models_are_not_judged() -> None:
    assert examine("PE327", RotaryEmbedding()).status == "passed"
    assert examine("PE327", AlibiBias()).status == "passed"
    assert examine("PE327", Toy()).status == "not-applicable"
    assert torch.get_default_dtype() is torch.float32
