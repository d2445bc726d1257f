"""Checks of data parallelism: each rank has the whole model and half of the batch, under DistributedDataParallel."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any
from unittest import mock

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.nn.functional import cross_entropy
from torch.nn.parallel import DistributedDataParallel

from gnomon.encodings import PositionEncoding, registry
from gnomon.models import Decoder, ModelOptions
from tests.helpers.process_sizes import DIM, HEADS, drawn, error, positions_for, worst

STEPS = 2


def checks() -> dict[str, Callable[[], dict[str, Any]]]:
    return {f"copies-{name}": partial(training, name) for name in registry.names()}


def training(name: str) -> dict[str, Any]:
    """Two steps on half of a batch on each rank, against two steps of one process on all of it."""
    alone, together = decoder(drawn(name)), decoder(drawn(name))
    positions = positions_for(drawn(name), start=0)
    with broadcasts() as sent:
        wrapped = DistributedDataParallel(together)
        got = steps(wrapped, positions, slice(2 * dist.get_rank(), 2 * dist.get_rank() + 2))
    dist.all_reduce(got)
    want = steps(alone, positions, slice(0, 4))
    state = {key: value.detach() for key, value in alone.named_parameters()}
    return {
        "loss": error(got / dist.get_world_size(), want),
        "parameters": worst({key: value.detach() for key, value in together.named_parameters()}, state),
        "buffers": len(list(together.buffers())),
        "bytes of parameters": sum(value.numel() * value.element_size() for value in state.values()),
        "bytes broadcast": sum(sent),
    }


def decoder(encoding: PositionEncoding) -> Decoder:
    torch.manual_seed(5)
    return Decoder(ModelOptions(vocabulary=31, dim=DIM, num_layers=2, num_heads=HEADS), encoding=encoding)


def steps(model: nn.Module, positions: Tensor, rows: slice) -> Tensor:
    """The loss of each step."""
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    ids = (torch.arange(68).reshape(4, 17) * 7 % 31)[rows]
    losses = []
    for _ in range(STEPS):
        optimizer.zero_grad()
        loss = cross_entropy(model(ids[:, :-1], positions=positions).flatten(0, 1), ids[:, 1:].flatten())
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
    return torch.stack(losses)


@contextmanager
def broadcasts() -> Iterator[list[int]]:
    """How many bytes DistributedDataParallel sends to make all ranks start and go on alike."""
    sent: list[int] = []
    original = dist.__dict__["_broadcast_coalesced"]

    def counted(group: Any, tensors: list[Tensor], *rest: Any) -> None:
        sent.extend(tensor.numel() * tensor.element_size() for tensor in tensors)
        original(group, tensors, *rest)

    with mock.patch.object(dist, "_broadcast_coalesced", counted):
        yield sent
