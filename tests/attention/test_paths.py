"""Every path of attention gives what the dense one gives, for every encoding, structure of the batch and sight."""

import pytest
import torch
from torch import Tensor

from gnomon.attention import Attention
from tests.helpers.scenes import (
    BATCH,
    BLOCKS_ONLY,
    DIM,
    ENCODINGS,
    LENGTH,
    SCENES,
    Scene,
    fits,
    layer_for,
    output,
    require_equal,
)
from tests.helpers.weights import normal


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks of few queries, so that thirteen are several."""
    monkeypatch.setattr("gnomon.attention.blocks.rows_of_a_block", lambda call: 5)
    monkeypatch.setattr("gnomon.kernels.toeplitz.ROWS", 5)


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("scene", SCENES)
@pytest.mark.parametrize("name", ENCODINGS)
def test_blocks_and_runs_equal_the_dense_form(name: str, scene: str) -> None:
    if not fits(name, SCENES[scene]):
        return
    layer, x = layer_for(ENCODINGS[name], SCENES[scene]), normal(BATCH, LENGTH, DIM)
    with torch.no_grad():
        want = output(layer, SCENES[scene], x, "dense")
        require_equal(output(layer, SCENES[scene], x, "blocks"), want)
        if name not in BLOCKS_ONLY:
            require_equal(output(layer, SCENES[scene], x, "strided"), want)


LEARNED = [name for name, encoding in ENCODINGS.items() if list(encoding.parameters())]


def gradients(layer: Attention, scene: Scene, x: Tensor, path: str) -> list[Tensor]:
    """Of the input, the weights and the encoding."""
    out = output(layer, scene, x, path)
    weights = torch.linspace(-1, 1, out.numel()).view_as(out)
    return list(torch.autograd.grad((out * weights).sum(), [x, *layer.parameters()], materialize_grads=True))


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize(
    "scene", ["padding and packed", "window", "right padding, both sides", "chunks and left padding"]
)
@pytest.mark.parametrize("name", ["rotary", *LEARNED])
def test_gradients_equal_those_of_the_dense_form(name: str, scene: str) -> None:
    if not fits(name, SCENES[scene]):
        return
    layer, x = layer_for(ENCODINGS[name], SCENES[scene]), normal(BATCH, LENGTH, DIM).requires_grad_()
    want = gradients(layer, SCENES[scene], x, "dense")
    for path in ("blocks",) if name in BLOCKS_ONLY else ("blocks", "strided"):
        for ours, theirs in zip(gradients(layer, SCENES[scene], x, path), want, strict=True):
            torch.testing.assert_close(ours, theirs, rtol=0, atol=1e-5 * max(1.0, theirs.abs().max().item()))
