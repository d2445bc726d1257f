"""How long two models take for the same rows, in turns, so that a busy machine slows both."""

import copy
import time
from statistics import median

import torch

from gnomon.lab.measures.base import Trained
from gnomon.lab.measures.reading.twins import Pass, without_positions
from gnomon.lab.model import LabModel
from gnomon.lab.tasks.base import Batch


def relative_speed(trained: Trained, batch: Batch, run: Pass, repeats: int) -> float:
    """The time of the model without an encoding over that of the model: the median of so many pairs, after a first.

    Both are copies, so that nothing hangs on the model that is measured.
    """
    model, plain = copy.deepcopy(trained.model), without_positions(trained.model)
    device = next(model.parameters()).device
    ids = batch.ids.to(device)

    def seconds(each: LabModel) -> float:
        started = time.perf_counter()
        run(each, ids)
        if device.type == "cuda":
            torch.cuda.synchronize(device)
        return time.perf_counter() - started

    pairs = [(seconds(plain), seconds(model)) for _ in range(repeats + 1)]
    return median(alone / encoded for alone, encoded in pairs[1:])
