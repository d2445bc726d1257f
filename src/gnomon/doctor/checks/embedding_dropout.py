"""PE329: dropout falls on the sum of words and positions more than once."""

import copy
from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.doctor.check import check
from gnomon.doctor.evidence.calling import Model, model
from gnomon.doctor.evidence.trace import require_attention
from gnomon.doctor.evidence.watcher import attends
from gnomon.report.document import Finding, Measured

BATCH, LENGTH = 3, 11
DROPS = ("native_dropout", "bernoulli_")


@check("PE329", "embedding-dropout", severity="note", needs=(model,))
def embedding_dropout(subject: Subject) -> Iterator[Finding | Measured]:
    """In training, dropout falls more than once on the vectors that enter the first block.

    Why: the original Transformer drops once, on the sum of words and positions. Written both in the encoding's module
    and in the model around it, two dropouts of 10 % drop 19 % of the words' and positions' numbers. How often it falls
    before the first attention is counted in a training forward of a copy; none at all is measured and not judged, since
    several families leave it out.

    Fix: keep one of the two: in the module that adds positions, or behind it.

    Sources: jadore801120/attention-is-all-you-need-pytorch#69 (left out), THUDM/Chinese-Transformer-XL#8 (twice);
    Vaswani et al. 2017, section 5.4.
    """
    require_attention(subject)
    probe = model(subject)
    rates = sorted({part.p for part in probe.module.modules() if isinstance(part, torch.nn.Dropout) and part.p > 0})
    if not rates:
        raise MissingEvidence("the model has no dropout")
    times = _times(probe)
    yield Measured("dropouts before the first attention", times, 1, f"rates {', '.join(map(str, rates))}")
    if times > 1:
        share = 1 - (1 - rates[0]) ** times
        yield Finding(
            "the embeddings",
            f"dropout falls {times} times on the vectors before the first attention",
            f"drop once, behind the sum of words and positions: {times} times {rates[0]:g} drop {share:.3g} of it",
            {"times": times, "share": share},
        )


def _times(probe: Model) -> int:
    training = copy.copy(probe)
    training.module = copy.deepcopy(probe.module).train()
    content = probe.draw(BATCH, probe.length(LENGTH), seed=95)
    counter = _Dropouts(content)
    with torch.random.fork_rng(devices=[]), counter:
        training(content)
    return counter.times


class _Dropouts(TorchDispatchMode):
    """Counts dropouts of hidden vectors until the first attention."""

    def __init__(self, content: Tensor) -> None:
        super().__init__()
        self.shapes = (content.shape[:2], content.shape[1::-1])
        self.times, self.attended = 0, False

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = func.overloadpacket.__name__
        self.attended = self.attended or attends(name)
        if name in DROPS and not self.attended and args[0].ndim == 3 and args[0].shape[:2] in self.shapes:
            self.times += 1
        return func(*args, **(kwargs or {}))
