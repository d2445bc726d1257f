"""Train one model on one task, then measure it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, final

import torch

from gnomon.lab.experiments.base import Experiment, Outcome, registry
from gnomon.lab.experiments.context import Context
from gnomon.lab.measures.base import Trained, build_measure
from gnomon.lab.model import LabModel, ModelSpec
from gnomon.lab.tasks.base import Task, build_task
from gnomon.lab.training.options import Placing, TrainingOptions


@registry.register("train")
@final
@dataclass(frozen=True)
class Train(Experiment):
    """`task` is {"task": name, **options}; `lengths` are the shortest and the longest rows of training, both included.

    `measures` are dicts, {"measure": name, **options}. `model`, `training` and `placing` are the fields of ModelSpec,
    TrainingOptions and Placing. A learned table has as many rows as the longest trained row has slots, or as
    `placing.limit` says.
    """

    task: Mapping[str, Any]
    measures: list[Mapping[str, Any]]
    lengths: list[int] | None = None
    model: Mapping[str, Any] = field(default_factory=dict)
    training: Mapping[str, Any] = field(default_factory=dict)
    placing: Mapping[str, Any] = field(default_factory=dict)

    def run(self, context: Context) -> Outcome:
        measures = [build_measure(each) for each in self.measures]  # first, so that a wrong name costs no training
        trained = self.trained(context)
        return Outcome({"": {m.info.name: m.take(trained, context) for m in measures}}, data=trained.task.data)

    def trained(self, context: Context) -> Trained:
        """The model after training, with what a measure needs to know of it."""
        task = self._task()
        return self.taught(self.untrained(task, Placing(**self.placing), context), task, context)

    def taught(self, model: LabModel, task: Task, context: Context) -> Trained:
        """A model of one's own, trained in place as these options say; those of the model are not looked at."""
        from gnomon.lab.training.loop import Lesson, train

        placing = Placing(**self.placing)
        lesson = Lesson(task, None if self.lengths is None else (self.lengths[0], self.lengths[1]), placing)
        history = train(model, lesson, TrainingOptions(**self.training), context)
        return Trained(model, task, placing, history)

    def untrained(self, task: Task, placing: Placing, context: Context) -> LabModel:
        """The model with the weights that the seed gives it. torch's own generator is left as it was."""
        longest = None if self.lengths is None else self.lengths[1]
        slots = placing.limit if placing.kind != "counted" else task.slots(longest or 0)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(context.generator("weights").initial_seed())
            return LabModel(ModelSpec(**self.model), task, max_length=slots)

    def _task(self) -> Task:
        options = {key: value for key, value in self.task.items() if key != "task"}
        return build_task(self.task["task"], options)
