"""The training loop. Run it under `torchrun` or `accelerate launch`, and it uses all their processes.

The batch of a step follows from the seed and the number of the step alone: every process draws all of it and learns
from its own rows, so the loss curve is that of one process, and a run that is resumed sees what it would have seen.
"""

import math
import time
from dataclasses import dataclass
from typing import final

import torch
from accelerate import Accelerator
from jaxtyping import Float, Int64
from torch import Tensor
from torch.nn.functional import cross_entropy
from torch.optim.lr_scheduler import LambdaLR

from gnomon.errors import GnomonError
from gnomon.lab.experiments.context import Context
from gnomon.lab.model import LabModel
from gnomon.lab.tasks.base import IGNORED, Batch, Task
from gnomon.lab.training.checkpoint import Checkpoint
from gnomon.lab.training.history import History
from gnomon.lab.training.options import Placing, TrainingOptions
from gnomon.lab.training.placing import place


@final
@dataclass(frozen=True)
class Lesson:
    """What is learnt: a task, the shortest and the longest rows of training, and where positions come from."""

    task: Task
    lengths: tuple[int, int] | None  #: both ends count; None: rows as they come
    placing: Placing

    def batch(self, size: int, generator: torch.Generator) -> tuple[Batch, Int64[Tensor, "B S"] | None]:
        """Rows of one length and their positions."""
        length = None
        if self.lengths is not None:
            low, high = self.lengths
            length = int(torch.randint(low, high + 1, (), generator=generator))
        batch = self.task.batch("train", length, size, generator)
        return batch, place(self.placing, batch, "train", generator)


def train(model: LabModel, lesson: Lesson, options: TrainingOptions, context: Context) -> History:
    """Train in place, and return the history; go on from the checkpoint in the context's folder when there is one."""
    accelerator = context.accelerator(options.precision)
    _require_whole_parts(options.batch_size, accelerator)
    optimizer = torch.optim.AdamW(
        model.parameters(), lr=options.learning_rate, betas=options.betas, weight_decay=options.weight_decay
    )
    schedule = LambdaLR(optimizer, lambda step: rate(step, options))
    model.to(accelerator.device)
    checkpoint = Checkpoint(context.folder, model, optimizer, schedule)
    history = checkpoint.restored(accelerator.device)
    wrapped, prepared = accelerator.prepare(model, optimizer)
    wrapped.train()
    for step in range(len(history.losses), options.steps):
        started = time.perf_counter()
        batch, positions = lesson.batch(options.batch_size, context.generator("step", step))
        loss = _loss(wrapped, batch, positions, accelerator)
        accelerator.backward(loss)
        norm = accelerator.clip_grad_norm_(wrapped.parameters(), options.clip)
        prepared.step()
        schedule.step()
        prepared.zero_grad()
        history.losses.append(float(accelerator.reduce(loss.detach(), "mean")))
        history.gradient_norms.append(float(norm))
        history.seconds += time.perf_counter() - started
        _require_finite(history, step, options)
        done = step + 1
        if (done % options.save_every == 0 or done == options.steps) and accelerator.is_main_process:
            checkpoint.save(history)
        context.progress(done, options.steps)
    accelerator.unwrap_model(wrapped, keep_fp32_wrapper=False)  # autocast was put into the model's own forward
    model.eval()
    return history


def rate(step: int, options: TrainingOptions) -> float:
    """The share of the peak learning rate at a step: a line up, then a cosine down to `final_rate`.

    >>> [round(rate(step, TrainingOptions(steps=111, warmup=10)), 3) for step in (0, 9, 60, 110)]
    [0.1, 1.0, 0.525, 0.05]
    """
    if step < options.warmup:
        return (step + 1) / options.warmup
    done = (step - options.warmup) / max(1, options.steps - 1 - options.warmup)
    return options.final_rate + (1 - options.final_rate) * (1 + math.cos(math.pi * min(1.0, done))) / 2


def _loss(
    model: torch.nn.Module, batch: Batch, positions: Int64[Tensor, "B S"] | None, accelerator: Accelerator
) -> Float[Tensor, ""]:
    """This process's share of the mean over all scored slots of the batch, times the number of processes."""
    rank, processes = accelerator.process_index, accelerator.num_processes
    mine = batch.rows(rank, processes).to(accelerator.device)
    here = None if positions is None else positions[rank::processes].to(accelerator.device)
    logits = model(mine.ids, mine.real, here)
    total = cross_entropy(logits.flatten(0, 1).float(), mine.labels.flatten(), ignore_index=IGNORED, reduction="sum")
    share: Tensor = total * processes / max(1, batch.scored)
    return share


def _require_whole_parts(batch_size: int, accelerator: Accelerator) -> None:
    if batch_size % accelerator.num_processes:
        raise GnomonError(
            f"A batch of {batch_size} rows does not divide among {accelerator.num_processes} processes; "
            f"start a number of processes that divides it."
        )


def _require_finite(history: History, step: int, options: TrainingOptions) -> None:
    """A gradient may overflow in float16: accelerate leaves such a step out and scales the next ones down."""
    last = (history.losses[-1], *([] if options.precision == "fp16" else [history.gradient_norms[-1]]))
    if not all(math.isfinite(number) for number in last):
        raise GnomonError(f"The loss or its gradient was not finite at step {step}; lower the learning rate.")
