"""Hidden states after each layer."""

import pytest
import torch

from gnomon.attention import AttentionMask
from gnomon.lab.measures.reading import pieces
from gnomon.lab.measures.reading.hidden import hidden_states
from gnomon.lab.tasks.base import Batch
from tests.helpers.lab_measured import fresh


def test_they_are_what_the_blocks_give_one_after_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pieces, "CELLS", 2 * 5 * 10)
    trained = fresh("sinusoidal")
    ids = torch.arange(15).reshape(3, 5) % 7
    states = hidden_states(trained, Batch(ids, ids), torch.Generator())
    stack, positions = trained.model.stack, torch.arange(5)[None]
    with torch.no_grad():
        x = stack.encoding.embed(stack.embedding(ids), positions)
        expected = [x]
        for block in stack.blocks:
            expected.append(block(expected[-1], positions, AttentionMask()))
    assert len(states) == 3
    for state, own in zip(states, expected, strict=True):
        assert torch.allclose(state, own, atol=1e-6)


def test_the_hooks_are_gone_afterwards() -> None:
    trained = fresh()
    ids = torch.zeros(1, 2, dtype=torch.int64)
    hidden_states(trained, Batch(ids, ids), torch.Generator())
    assert not any(m._forward_hooks or m._forward_pre_hooks for m in trained.model.modules())
