"""What a forward really computes about positions, read off the operations it runs, whatever the code calls them.

A dispatch mode sees each tensor operation below autograd and autocast. Two patterns matter: a rotation
(x cos + turned(x) sin, in halves, interleaved or complex) and a table lookup.
"""

from typing import Any

from torch import Tensor, nn

from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.doctor.evidence.base import evidence
from gnomon.doctor.evidence.calling import Model, model
from gnomon.doctor.evidence.paths import running_path
from gnomon.doctor.evidence.record import Trace
from gnomon.doctor.evidence.signal_trace import trace_of_signals
from gnomon.doctor.evidence.watcher import Watcher

BATCH, LENGTH = 2, 29  # a prime that is no usual number of heads: the sequence axis is recognised by its size


@evidence
def trace(subject: Subject) -> Trace:
    """The trace of one forward on random content, default positions."""
    probe = model(subject)
    if probe.takes_images:
        content = probe.draw(BATCH, 0)
        return trace_of_signals(lambda: probe(content), lambda length: trace_forward(probe, content, length))
    return trace_forward(probe, probe.draw(BATCH, probe.length(LENGTH)))


def require_attention(subject: Subject) -> None:
    """Raise MissingEvidence when the forward runs no softmax: recurrent models have no padded keys and no key cache."""
    if subject.has("graph") and subject.get("graph").attends:
        return
    if not trace(subject).attentions:
        raise MissingEvidence("no attention was seen in the forward")


def trace_forward(probe: Model, content: Tensor, length: int | None = None, **arguments: Any) -> Trace:
    """Run the model once and read its operations. Content (B, S); keyword arguments as for `Model.__call__`.

    `length` is the number of tokens where content has no axis of them.
    """
    result = Trace(content.shape[0], length or content.shape[1])
    with running_path(probe.module) as path, Watcher(result, path, _names(probe.module)):
        probe(content, **arguments)
    return result


def _names(module: nn.Module) -> dict[int, str]:
    stored = [*module.named_parameters(remove_duplicate=False), *module.named_buffers(remove_duplicate=False)]
    return {tensor.data_ptr(): name for name, tensor in reversed(stored) if tensor.ndim >= 2 and tensor.numel()}
