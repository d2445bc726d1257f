"""PE303: position ids are not heeded, or a uniform shift of them changes a relative encoding."""

from typing import Any

import pytest
import torch
from torch import Tensor, nn

from tests.helpers.healthy import FOREIGN
from tests.helpers.toys import Toy, ToyDecoder, examine, llama, only_finding


class Patched(nn.Module):
    """A rotary embedding in place of Llama's, with `angles(ids)` of its own."""

    def __init__(self, frequencies: Tensor) -> None:
        super().__init__()
        self.frequencies = frequencies

    def angles(self, ids: Tensor) -> Tensor:
        raise NotImplementedError

    def forward(self, x: Tensor, position_ids: Tensor) -> tuple[Tensor, Tensor]:
        angles = self.angles(position_ids)
        wide = torch.cat((angles, angles), dim=-1)
        return wide.cos(), wide.sin()


class CountsForItself(Patched):
    def angles(self, ids: Tensor) -> Tensor:
        return torch.arange(ids.shape[1]).expand_as(ids)[..., None] * self.frequencies


class Rounded(Patched):
    def angles(self, ids: Tensor) -> Tensor:
        return (ids[..., None] * self.frequencies).to(torch.bfloat16).float()


def with_rotary(kind: type[Patched]) -> Any:
    model = llama()
    model.model.rotary_emb = kind(model.model.rotary_emb.inv_freq.clone())
    return model


def test_ids_that_are_not_used_are_found() -> None:
    finding = only_finding(examine("PE303", with_rotary(CountsForItself)))
    assert finding.where == "the argument position_ids"
    assert finding.measured["effect"] == 0
    assert "they are ignored" in finding.message
    assert "not with arange" in finding.fix


def test_a_learned_table_that_is_indexed_by_arange_is_found() -> None:
    class Arange(Toy):
        def embed(self, tokens: Tensor, ids: Tensor) -> Tensor:
            x: Tensor = self.words(tokens) + self.positions(torch.arange(tokens.shape[1]))
            return x

    assert only_finding(examine("PE303", Arange())).measured["effect"] == 0


def test_a_rotation_by_rounded_angles_moves_under_a_shift() -> None:
    finding = only_finding(examine("PE303", with_rotary(Rounded)))
    assert finding.measured["shift"] == 37
    assert finding.measured["effect"] > 0.005
    assert "shifting every position id by 37 changes the output" in finding.message
    assert "rotary is relative" in finding.message


@pytest.mark.parametrize("name", ["llama", "gpt-j", "bert", "roberta", "gpt-2", "cohere"])
def test_healthy_families_pass(name: str) -> None:
    result = examine("PE303", FOREIGN[name]())
    assert result.status == "passed", (result.detail, result.findings)


def test_an_absolute_encoding_may_move_under_a_shift() -> None:
    result = examine("PE303", FOREIGN["gpt-2"]())
    assert not any("shifting" in m.name for m in result.measured)


def test_a_model_without_the_argument_is_not_judged() -> None:
    result = examine("PE303", FOREIGN["bloom"]())
    assert (result.status, result.detail) == ("not-applicable", "the forward takes no position ids (batch, sequence)")


def test_ids_of_another_shape_are_not_judged() -> None:
    class Flat(Toy):
        def embed(self, tokens: Tensor, ids: Tensor) -> Tensor:
            if ids.ndim == 2 and len(ids) > 1:
                raise ValueError("position_ids are (S,)")
            x: Tensor = self.words(tokens) + self.positions(ids)
            return x

        def ids(self, mask: Tensor) -> Tensor:
            return torch.arange(mask.shape[1])

    assert examine("PE303", Flat()).detail == "the forward takes no position ids (batch, sequence)"


def test_a_table_too_short_to_stretch_is_not_judged() -> None:
    result = examine("PE303", Toy(rows=8))
    assert result.status == "not-applicable"
    assert "stretching them needs 12" in result.detail


def test_a_bias_that_takes_its_distances_from_the_slots_is_not_judged() -> None:
    result = examine("PE303", FOREIGN["falcon, alibi"]())
    assert result.status == "not-applicable"
    assert "can do without them" in result.detail


class FirstRowForAll(Toy):
    def embed(self, tokens: Tensor, ids: Tensor) -> Tensor:
        return super().embed(tokens, ids[:1].expand(len(tokens), -1))


class OffsetsOnTheTimeAxis(Toy):
    """One token: the offsets of the rows are laid along the sequence."""

    def embed(self, tokens: Tensor, ids: Tensor) -> Tensor:
        return super().embed(tokens, ids.mT if ids.shape[1] == 1 else ids)


def test_ids_of_the_first_row_that_serve_all_rows_are_found() -> None:
    finding = only_finding(examine("PE303", FirstRowForAll()))
    assert "rows with ids of their own" in finding.message
    assert "one row's ids serve all" in finding.message
    assert finding.measured["places"] == 13


def test_offsets_of_rows_that_become_places_are_found() -> None:
    finding = only_finding(examine("PE303", OffsetsOnTheTimeAxis()))
    assert finding.measured["places"] == 1
    assert "offsets of rows as (batch, 1)" in finding.fix or "(batch, sequence) tensor of ids" in finding.fix


def test_a_decoder_without_positions_may_take_ids_and_leave_them() -> None:
    class Bare(ToyDecoder):
        def __init__(self) -> None:
            super().__init__()
            del self.positions

        def embed(self, tokens: Tensor, ids: Tensor) -> Tensor:
            words: Tensor = self.words(tokens)
            return words

    result = examine("PE303", Bare())
    assert result.status == "not-applicable"
    assert "no encoding of positions" in result.detail
