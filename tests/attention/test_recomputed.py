"""Blocks that are computed again for their gradients do so as they were computed at first."""

import pytest
import torch
from torch import Tensor

from gnomon.attention.paths import ATTENTION
from tests.helpers.scenes import BATCH, DIM, ENCODINGS, LENGTH, SCENES, layer_for
from tests.helpers.weights import normal


def gradients(name: str, path: str, *, autocast: bool) -> list[Tensor]:
    layer, x = layer_for(ENCODINGS[name], SCENES["plain"]), normal(BATCH, LENGTH, DIM).requires_grad_()
    with ATTENTION.using(path), torch.autocast("cpu", dtype=torch.bfloat16, enabled=autocast):
        out = layer(x, torch.arange(LENGTH)[None])
    assert out.dtype == (torch.bfloat16 if autocast else torch.float32)
    weights = torch.linspace(-1, 1, out.numel()).view_as(out)
    return list(torch.autograd.grad((out * weights).sum(), [x, *layer.parameters()], materialize_grads=True))


@pytest.mark.parametrize("name", ["cope", "deberta", "fire"])
def test_gradients_of_a_pass_under_autocast_are_nearly_as_good_as_those_of_the_dense_form(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gnomon.attention.blocks.rows_of_a_block", lambda call: 1)
    exact = gradients(name, "dense", autocast=False)
    dense, blocks = (gradients(name, path, autocast=True) for path in ("dense", "blocks"))
    for ours, theirs, want in zip(blocks, dense, exact, strict=True):
        assert ours.dtype == theirs.dtype == torch.float32
        assert (ours - want).norm() <= 2 * (theirs - want).norm() + 1e-6  # each block is rounded


def test_gradients_of_gradients_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gnomon.attention.blocks.rows_of_a_block", lambda call: 4)
    layer, x = layer_for(ENCODINGS["fire"], SCENES["plain"]), normal(BATCH, LENGTH, DIM).requires_grad_()
    with ATTENTION.using("blocks"):
        out = layer(x, torch.arange(LENGTH)[None])
    [grad] = torch.autograd.grad(out.square().sum(), x, create_graph=True)
    with pytest.raises(RuntimeError, match="once_differentiable"):
        grad.sum().backward()
