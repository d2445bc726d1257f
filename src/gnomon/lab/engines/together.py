"""Runs by all processes that `torchrun` or `accelerate launch` started, together, one run after another."""

import json
from collections.abc import Sequence
from functools import partial
from typing import final

from gnomon.errors import GnomonError
from gnomon.lab.engines.base import Engine, Progress, Step, Tell
from gnomon.lab.engines.launched import leads
from gnomon.lab.engines.sweep import Seldom
from gnomon.lab.experiments import Context
from gnomon.lab.store import Store
from gnomon.lab.worker import perform, sentence
from gnomon.report.lab.results import Result, Run
from gnomon.report.lab.study import Failure


@final
class Together(Engine):
    """`device` is "cpu", or None for what accelerate finds. The store's folder must be on a disk that all of them see.

    A run that is refused (a GnomonError, which all processes raise alike) is a failure, and the next is done. Any
    other error ends this process, since the others wait for it in vain; the launcher then ends them.
    """

    def __init__(self, device: str | None = "cpu") -> None:
        self.device = device
        self.keeps = leads()

    def stored(self, runs: Sequence[Run], store: Store, progress: Progress) -> dict[str, Result]:
        """The leading process decides what is taken, and tells the others."""
        from accelerate.utils import broadcast_object_list

        Context(0, device=self.device).accelerator()  # joins the processes
        taken = super().stored(runs, store, progress) if self.keeps else {}
        [texts] = broadcast_object_list([{key: json.dumps(result.to_dict()) for key, result in taken.items()}])
        return {key: Result.from_dict(json.loads(text)) for key, text in texts.items()}

    def do(self, runs: Sequence[Run], store: Store, tell: Tell) -> None:
        for run in runs:
            steps = Seldom(partial(_step, run, tell))
            try:
                tell(perform(run, Context(run.seed, folder=store.work(run), device=self.device, progress=steps)))
            except GnomonError as error:
                tell(Failure(run, sentence(error)))


def _step(run: Run, tell: Tell, done: int, steps: int) -> None:
    tell(Step(run, done, steps))
