"""Train a rotary model once, then give it other frequencies for a longer context, without and with more training."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, final

from gnomon.encodings.base import check_options
from gnomon.encodings.frequencies import build_frequencies
from gnomon.errors import GnomonError
from gnomon.lab.experiments.base import Experiment, Outcome, registry
from gnomon.lab.experiments.context import Context
from gnomon.lab.experiments.train import Train
from gnomon.lab.extensions import TUNED
from gnomon.lab.measures.base import Measure, Trained, build_measure
from gnomon.lab.training.options import TrainingOptions
from gnomon.report.lab.results import Series


@registry.register("extend")
@final
@dataclass(frozen=True)
class Extend(Experiment):
    """`train` are the options of the experiment "train", with a rotary encoding of plain frequencies.

    `methods` are frequencies in their dict form by name. Each is a variant, measured on the weights as they are. With
    `tuning`, the `lengths` and `training` of more training, each is a second variant "name, tuned": the same weights,
    trained on with these frequencies, on the same rows for every method.
    """

    train: Mapping[str, Any]
    methods: Mapping[str, Mapping[str, Any]]
    tuning: Mapping[str, Any] = field(default_factory=dict)

    def run(self, context: Context) -> Outcome:
        check_options(Train, "train", self.train)
        base = Train(**self.train)
        _require_rotary(base)
        measures = [build_measure(each) for each in base.measures]
        for rule in self.methods.values():
            build_frequencies(rule)
        first, more = (TrainingOptions(**options.get("training", {})).steps for options in (self.train, self.tuning))
        total = first + (len(self.methods) * more if self.tuning else 0)
        trained = base.trained(context.part("trained", 0, total))
        measured: dict[str, Mapping[str, Series]] = {}
        for number, (name, rule) in enumerate(self.methods.items()):
            other = _with_frequencies(base, rule)
            measured[name] = _taken(measures, self._moved(other, trained, context), context)
            if self.tuning:
                sitting = context.part(f"{TUNED}-{number}", first + number * more, total)
                tuned = self._tuned(other, trained, sitting)
                measured[f"{name}, {TUNED}"] = _taken(measures, tuned, context)
        return Outcome(measured, data=trained.task.data)

    def _moved(self, other: Train, trained: Trained, context: Context) -> Trained:
        """The trained weights under other frequencies; rotary encodings have no weights of their own."""
        model = other.untrained(trained.task, trained.placing, context)
        model.load_state_dict(trained.model.state_dict())
        model.to(next(trained.model.parameters()).device).eval()
        return Trained(model, trained.task, trained.placing, trained.history)

    def _tuned(self, other: Train, trained: Trained, context: Context) -> Trained:
        moved = self._moved(other, trained, context)
        return replace(other, **self.tuning).taught(moved.model, trained.task, context)


def _with_frequencies(base: Train, rule: Mapping[str, Any]) -> Train:
    return replace(base, model={**base.model, "encoding": {**base.model["encoding"], "frequencies": dict(rule)}})


def _taken(measures: list[Measure], trained: Trained, context: Context) -> dict[str, Series]:
    return {measure.info.name: measure.take(trained, context) for measure in measures}


def _require_rotary(base: Train) -> None:
    encoding = base.model.get("encoding")
    if not isinstance(encoding, Mapping) or encoding.get("encoding") != "rotary" or "frequencies" in encoding:
        raise GnomonError(
            f"Contexts are extended of models trained with {{'encoding': 'rotary'}} and no frequencies of their own, "
            f"got {encoding!r}."
        )
