"""PE516: a forward that makes parameters."""

import pytest
import torch
from torch import Tensor, nn

from tests.helpers.healthy import FOREIGN
from tests.helpers.toys import DIM, Toy, examine, only_finding


class Grown(Toy):
    """Makes its table anew for every longer input."""

    def __init__(self) -> None:
        super().__init__()
        self.table = nn.Parameter(torch.randn(4, DIM))

    def embed(self, tokens: Tensor, ids: Tensor) -> Tensor:
        if tokens.shape[1] > len(self.table):
            self.table = nn.Parameter(torch.randn(tokens.shape[1], DIM))
        x: Tensor = self.words(tokens) + self.table[ids]
        return x


class Lazy(Toy):
    """Makes its table at the first call."""

    def embed(self, tokens: Tensor, ids: Tensor) -> Tensor:
        if not hasattr(self, "made"):
            self.made = nn.Parameter(torch.randn(64, DIM))
        x: Tensor = self.words(tokens) + self.made[ids]
        return x


def test_a_table_that_grows_is_found_with_both_shapes() -> None:
    result = examine("PE516", Grown())
    finding = only_finding(result)
    assert (result.severity, finding.where) == ("error", "table")
    assert "of shape (5, 32) (before: (4, 32))" in finding.message


def test_a_table_made_at_the_first_call_is_found() -> None:
    assert "where there was none" in only_finding(examine("PE516", Lazy())).message


@pytest.mark.parametrize("model", [Toy(), FOREIGN["llama, dynamic"](), FOREIGN["gpt-2"]()])
def test_healthy_models_pass_at_three_lengths(model: nn.Module) -> None:
    result = examine("PE516", model)
    assert (result.status, len(result.measured)) == ("passed", 3)


def test_a_buffer_may_grow() -> None:
    class Buffered(Toy):
        def embed(self, tokens: Tensor, ids: Tensor) -> Tensor:
            self.register_buffer("cache", torch.zeros(tokens.shape[1], DIM), persistent=False)
            return super().embed(tokens, ids)

    assert examine("PE516", Buffered()).status == "passed"
