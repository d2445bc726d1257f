"""PE305: a row's result depends on its place in the batch, on its neighbours, or on earlier calls."""

import warnings

import pytest
import torch
from torch import Tensor, nn

from tests.helpers.components import PositionalEncoding
from tests.helpers.healthy import FOREIGN
from tests.helpers.toys import OverTheBatch, Toy, examine, only_finding


class Counting(Toy):
    """Counts on from the last call, as a cache that is never emptied does."""

    start = 0

    def ids(self, mask: Tensor) -> Tensor:
        self.start = (self.start + 1) % 8
        return super().ids(mask) + self.start


class CentredOverTheBatch(Toy):
    def embed(self, tokens: Tensor, ids: Tensor) -> Tensor:
        x = super().embed(tokens, ids)
        return x - x.mean(0, keepdim=True) if len(x) > 1 else x


def test_positions_along_the_batch_axis_are_found() -> None:
    result = examine("PE305", OverTheBatch())
    finding = only_finding(result)
    assert result.severity == "error"
    assert finding.where == "the batch axis"
    assert finding.measured["difference"] > 0.1
    assert "positions follow the batch axis" in finding.message
    assert "dimension 1 of batch-first tensors" in finding.fix


def test_state_kept_between_calls_is_found() -> None:
    finding = only_finding(examine("PE305", Counting()))
    assert finding.where == "the forward"
    assert "when called twice" in finding.message
    assert "state kept between calls" in finding.fix


def test_a_row_that_depends_on_its_neighbours_is_found() -> None:
    finding = only_finding(examine("PE305", CentredOverTheBatch()))
    assert finding.message.startswith("a row alone differs by ")
    assert "from the same row in a batch" in finding.message


@pytest.mark.parametrize("name", ["llama", "bert", "bloom", "gpt-j"])
def test_healthy_families_pass(name: str) -> None:
    result = examine("PE305", FOREIGN[name]())
    assert result.status == "passed"
    assert all(float(m.value) < 1e-5 for m in result.measured)


def test_a_model_that_does_not_run_is_not_judged() -> None:
    class Picky(Toy):
        def forward(self, tokens: Tensor, scale: Tensor, extra: int) -> Tensor:  # type: ignore[override]
            return super().forward(tokens) * scale * extra

    result = examine("PE305", Picky())
    assert result.status == "not-applicable"
    assert "the forward fails on content of shape (2, " in result.detail
    assert "missing 2 required positional arguments: 'scale' and 'extra'" in result.detail


def test_a_path_for_one_token_that_leaves_rows_out_is_found() -> None:
    class FirstRowOnly(Toy):
        def embed(self, tokens: Tensor, ids: Tensor) -> Tensor:
            x = super().embed(tokens, ids)
            return torch.cat((x[:1], x[1:] * 0)) if tokens.shape[1] == 1 else x

    finding = only_finding(examine("PE305", FirstRowOnly()))
    assert "equal rows of one token each differ" in finding.message
    assert "every row of the batch" in finding.fix


def test_a_bare_position_module_is_left_to_its_own_check() -> None:
    example = (torch.randn(2, 12, 16),)
    result = examine("PE305", (PositionalEncoding(axis=0), example))
    assert result.status == "not-applicable"
    assert "only the data can say" in result.detail


def test_a_loss_has_no_rows() -> None:
    class Loss(Toy):
        def forward(self, tokens: Tensor) -> Tensor:  # type: ignore[override]
            return super().forward(tokens).square().mean()

    result = examine("PE305", Loss())
    assert result.status == "not-applicable"
    assert "one number" in result.detail


def test_layers_quantised_on_the_fly_share_a_scale_among_rows() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        quantised = torch.ao.quantization.quantize_dynamic(Toy().eval(), {nn.Linear}, dtype=torch.qint8)
    assert examine("PE305", quantised).status == "not-applicable"
