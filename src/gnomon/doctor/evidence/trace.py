"""What a forward really computes about positions, read off the operations it runs, whatever the code calls them.

A dispatch mode sees each tensor operation below autograd and autocast. Three patterns matter: a rotation
(x cos + turned(x) sin, in halves, interleaved or complex), something added to attention logits, and a table lookup.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from torch import Tensor, nn

from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.doctor.evidence.base import evidence
from gnomon.doctor.evidence.calling import Model, model
from gnomon.doctor.evidence.record import Trace
from gnomon.doctor.evidence.watcher import Watcher

BATCH, LENGTH = 2, 29  # a prime that is no usual number of heads: the sequence axis is recognised by its size


@evidence
def trace(subject: Subject) -> Trace:
    """The trace of one forward on random content, default positions."""
    probe = model(subject)
    return trace_forward(probe, probe.draw(BATCH, probe.length(LENGTH)))


def require_attention(subject: Subject) -> None:
    """Raise MissingEvidence when the forward runs no softmax: recurrent models have no padded keys and no key cache."""
    if not trace(subject).attentions:
        raise MissingEvidence("no attention was seen in the forward")


def trace_forward(probe: Model, content: Tensor, **arguments: Any) -> Trace:
    """Run the model once and read its operations. Content (B, S); keyword arguments as for `Model.__call__`."""
    result = Trace(content.shape[0], content.shape[1])
    with _paths(probe.module) as path, Watcher(result, path, _names(probe.module)):
        probe(content, **arguments)
    return result


@contextmanager
def _paths(module: nn.Module) -> Iterator[list[str]]:
    """The dotted path of the module that is running, as a stack that hooks keep."""
    stack: list[str] = []
    handles = []

    def leave(*_: Any) -> None:
        stack.pop()

    for path, part in module.named_modules():
        handles.append(part.register_forward_pre_hook(lambda *_, path=path: stack.append(path)))
        handles.append(part.register_forward_hook(leave, always_call=True))
    try:
        yield stack
    finally:
        for handle in handles:
            handle.remove()


def _names(module: nn.Module) -> dict[int, str]:
    stored = [*module.named_parameters(remove_duplicate=False), *module.named_buffers(remove_duplicate=False)]
    return {tensor.data_ptr(): name for name, tensor in reversed(stored) if tensor.ndim >= 2 and tensor.numel()}
