"""PE328: bfloat16 goes in and bfloat16 comes out."""

import pytest
import torch
from torch import Tensor, nn

from tests.helpers.components import AlibiBias, RotaryEmbedding
from tests.helpers.gallery_forward import sinusoid_rows
from tests.helpers.healthy import FOREIGN
from tests.helpers.subjects import value
from tests.helpers.toys import DIM, Toy, examine, only_finding


class Promotes(RotaryEmbedding):
    def turned(self, x: Tensor) -> Tensor:
        angles = self.angles(x.shape[-2])
        pairs = torch.view_as_complex(x.float().unflatten(-1, (-1, 2)))
        return torch.view_as_real(pairs * torch.polar(torch.ones_like(angles), angles)).flatten(-2)


class AddsFloats(Toy):
    """A float32 table that no cast reaches."""

    def embed(self, tokens: Tensor, ids: Tensor) -> Tensor:
        x: Tensor = self.words(tokens) + self.table(ids)
        return x

    def table(self, ids: Tensor) -> Tensor:
        rows: Tensor = sinusoid_rows(ids.flatten(), DIM).unflatten(0, ids.shape)
        return rows


class Vectors(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.mix = nn.Linear(8, 8)

    def forward(self, x: Tensor) -> Tensor:
        out: Tensor = self.mix(x) + torch.arange(x.shape[1], dtype=torch.float32)[:, None]
        return out


def test_a_complex_table_that_promotes_is_found() -> None:
    result = examine("PE328", Promotes())
    finding = only_finding(result)
    assert result.severity == "warning"
    assert finding.message == "torch.bfloat16 goes in and torch.float32 comes out: a table promotes it"
    assert "(x * cos + turned * sin).to(x.dtype)" in finding.fix


def test_a_model_of_vectors_that_promotes_is_found() -> None:
    assert "torch.float32 comes out" in only_finding(examine("PE328", (Vectors(), (torch.randn(2, 5, 8),)))).message


def test_a_model_that_fails_once_it_is_cast_is_found() -> None:
    class Plain(AddsFloats):
        def bias(self, mask: Tensor) -> Tensor:
            return super().bias(mask).to(self.words.weight.dtype)

    class Cast(Plain):
        def table(self, ids: Tensor) -> Tensor:
            return super().table(ids).to(self.words.weight.dtype)

    finding = only_finding(examine("PE328", Plain()))
    assert "the forward fails, which runs in float32" in finding.message
    assert "table[ids].to(x.dtype)" in finding.fix
    assert examine("PE328", Cast()).status == "passed"


@pytest.mark.parametrize("name", ["llama", "bert", "bloom"])
def test_healthy_families_pass(name: str) -> None:
    result = examine("PE328", FOREIGN[name]())
    assert result.status == "passed"
    assert "float" in str(value(result, "dtype of the output"))


def test_right_modules_pass_and_biases_are_not_judged() -> None:
    assert examine("PE328", RotaryEmbedding()).status == "passed"
    assert examine("PE328", AlibiBias()).status == "not-applicable"
