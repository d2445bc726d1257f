"""PE611: fixed tables of positions that take memory, or are sent between ranks, for lengths that nobody uses."""

from collections.abc import Iterator, Sequence

from torch import Tensor

from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.doctor.check import check
from gnomon.doctor.thresholds import Threshold
from gnomon.report.document import Finding, Measured

TIMES = Threshold(2.0, "a table with twice the rows that are used is a matter of taste, one with eight times is not")
SMALL = 1 << 20  # bytes of a table that are not worth a word


@check("PE611", "table-larger-than-served", severity="note", needs=("module",))
def table_larger_than_served(subject: Subject) -> Iterator[Finding | Measured]:
    """A fixed table in a buffer takes over a megabyte: DDP sends it in each step, and most rows may never be used.

    Why: cosines, sines and biases for a model's maximum of 262,144 positions take 64 MiB where 8 MiB serve the 32,768
    that are used, on every device. DistributedDataParallel sends registered buffers from rank 0 at every forward,
    although each rank can compute them.

    Fix: build the table for the longest input that is served, or compute angles when called; for training set
    `broadcast_buffers=False` or keep derived tables out of the buffers.

    Sources: sglang 28136, nntrainer 4293, TensorRT-LLM 13859 (one table of 5 GiB); minimind 855 (broadcast per step).
    """
    large = [(n, b) for n, b in subject.module.named_buffers() if b.ndim >= 2 and _bytes(b) > SMALL]
    if not list(subject.module.buffers()):
        raise MissingEvidence("the model has no buffers")
    served = _longest(subject)
    total = sum(_bytes(b) for _, b in large)
    yield Measured("bytes of tables in buffers, each over a MiB", total, None, "sent by DDP before each forward")
    for name, buffer in large:
        rows = max(buffer.shape)
        if served and rows > TIMES.value * served:
            yield _finding(name, buffer, f"the longest input has {served}", f"{served} rows take", served / rows, rows)
        elif not served and not _trained_state(name):
            yield _finding(
                name, buffer, "DDP sends all of it before each forward", "deterministic buffers need", 0.0, rows
            )


def _finding(name: str, buffer: Tensor, why: str, needed: str, share: float, rows: int) -> Finding:
    size = _bytes(buffer)
    return Finding(
        name,
        f"the table has {rows} rows and takes {_mebibytes(size)}; {why}",
        f"{needed} {_mebibytes(size * share)}: build it for what is served, or compute it when called"
        + ("" if share else "; broadcast_buffers=False"),
        {"bytes": size, "needed": int(size * share), "rows": rows},
    )


def _trained_state(name: str) -> bool:
    """Statistics of a batch norm and the like, which ranks do have to share."""
    return name.rpartition(".")[2].startswith(("running_", "num_batches"))


def _longest(subject: Subject) -> int | None:
    lengths = subject.get("lengths") if subject.has("lengths") else None
    return max(map(int, lengths)) if isinstance(lengths, Sequence) and lengths else None


def _bytes(buffer: Tensor) -> int:
    return buffer.numel() * buffer.element_size()


def _mebibytes(size: float) -> str:
    return f"{size / 2**20:.3g} MiB"
