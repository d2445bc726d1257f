"""PE609: ALiBi slopes on the ranks of a model whose heads are spread over devices."""

from collections.abc import Iterator

import torch
from torch import Tensor

from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.doctor.check import check
from gnomon.encodings import ALiBi
from gnomon.report.document import Finding, Measured

HOW = "pass slopes=, a list of the ALiBi slopes (heads,) of each rank, or a function that makes it from the module"
CLOSE = 4e-3  # rounding to bfloat16 costs 2e-3 of a slope, a fault a factor


@check("PE609", "sharded-slopes", severity="error", needs=("slopes",))
def sharded_slopes(subject: Subject) -> Iterator[Finding | Measured]:
    """The ALiBi slopes of the tensor-parallel ranks, put together, are not those of all heads.

    Why: each head has a slope by its number among all heads. A rank that makes slopes from its own number of heads
    gives heads 4 to 7 the slopes of a model with four heads; one device shows nothing.

    Fix: make the slopes of all heads and let each rank take its slice.

    Sources: Megatron-DeepSpeed 227, flashinfer 1606 (Press et al. 2021 for the slopes).
    """
    ranks = [torch.as_tensor(part).detach().cpu().double().flatten() for part in _given(subject)]
    total = sum(len(part) for part in ranks)
    whole = _slopes(total)
    done = 0
    for rank, used in enumerate(ranks):
        right = whole[done : done + len(used)]
        done += len(used)
        apart = float(((used.abs() - right) / right).abs().max())
        yield Measured(f"slopes of rank {rank}, relative error", apart, CLOSE, "a slice of those of all heads")
        if apart > CLOSE:
            local = torch.allclose(used.abs(), _slopes(len(used)), rtol=CLOSE)
            why = f": those of a model with {len(used)} heads" if local else ""
            yield Finding(
                f"rank {rank}",
                f"its slopes are {_few(used)}{why}; of {total} heads it holds {done - len(used)} to {done - 1}",
                f"make the slopes of all {total} heads and take this rank's slice: {_few(right)}",
                {"used": used.tolist(), "right": right.tolist()},
            )


def _given(subject: Subject) -> list[Tensor]:
    given = subject.get("slopes") if subject.has("slopes") else None
    given = given(subject.module) if callable(given) else given
    if not isinstance(given, list | tuple) or not given:
        raise MissingEvidence(HOW)
    return list(given)


def _slopes(heads: int) -> Tensor:
    return torch.as_tensor(ALiBi(heads).slopes, dtype=torch.float64)


def _few(slopes: Tensor) -> str:
    return ", ".join(f"{float(s):.4g}" for s in slopes)
