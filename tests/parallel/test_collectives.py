"""What ranks exchange. That it is right is tested with two processes, in test_two_processes.py."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn

from gnomon.attention import Attention
from gnomon.encodings import ALiBi
from gnomon.errors import GnomonError
from gnomon.parallel import ContextParallel, HeadParallelAttention, copied, gathered, sum_gradients, summed
from gnomon.parallel.collectives import place


def test_a_process_without_others_is_told_how_to_start() -> None:
    with pytest.raises(GnomonError, match=r"belongs to no group: start it with torchrun and call torch\.distributed"):
        place()
    with pytest.raises(GnomonError, match="belongs to no group"):
        _ = ContextParallel().rank
    with pytest.raises(GnomonError, match="belongs to no group"):
        HeadParallelAttention(Attention(8, num_heads=2, encoding=ALiBi(2), causal=True))


@pytest.mark.parametrize("exchange", [summed, copied, gathered], ids=lambda exchange: exchange.__name__)
def test_nothing_is_exchanged_without_a_group(exchange: Callable[..., Any]) -> None:
    with pytest.raises(GnomonError, match="belongs to no group"):
        exchange(torch.ones(2, requires_grad=True))


def test_gradients_stay_as_they_were_without_a_group() -> None:
    model = nn.Linear(2, 2)
    with pytest.raises(GnomonError, match="belongs to no group"):
        sum_gradients(model)
    assert model.weight.grad is None
    with pytest.raises(GnomonError, match=r"^Gradients are summed of a torch\.nn\.Module, got None\.$"):
        sum_gradients(None)  # type: ignore[arg-type]


@pytest.mark.parametrize("part", [(3, 2), (2, 2), (-1, 2), (0, 0), (0.0, 2), (0, True), (0,), 1, None])
def test_a_part_that_is_not_there_is_refused(part: Any) -> None:
    with pytest.raises(GnomonError, match=r"^A part is \(index, count\), two integers with 0 <= index < count, got "):
        copied(torch.ones(2), part=part)


@pytest.mark.parametrize("group", ["all", 0, -100])
def test_what_is_no_group_is_refused(group: Any) -> None:
    with pytest.raises(GnomonError, match=r"^A group is a torch\.distributed\.ProcessGroup of this process, or None"):
        place(group)
