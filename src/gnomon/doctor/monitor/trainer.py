"""The monitor as a callback of transformers' Trainer."""

from collections.abc import Mapping
from typing import Any

from torch import nn

from gnomon.doctor.monitor.monitor import Monitor, to_logging


def trainer_callback(trainer: Any = None, **options: Any) -> Any:
    """A TrainerCallback that monitors the model; `options` are those of Monitor.

    Given a Trainer it is added to it, and numbers go through `trainer.log` to wherever that trainer reports. Otherwise
    add it yourself: numbers then go to the trainer's `state.log_history`. Its `monitor` is None until training begins.
    """
    from transformers import TrainerCallback

    class MonitorCallback(TrainerCallback):  # type: ignore[misc]
        monitor: Monitor | None = None

        def on_train_begin(self, args: Any, state: Any, control: Any, **more: Any) -> None:
            model: nn.Module = more["model"]
            self.monitor = Monitor(model, **{"log": _log(trainer, state), **options})

        def on_pre_optimizer_step(self, args: Any, state: Any, control: Any, **more: Any) -> None:
            if self.monitor is not None:
                self.monitor.step()

        def on_train_end(self, args: Any, state: Any, control: Any, **more: Any) -> None:
            if self.monitor is not None:
                self.monitor.close()

    callback = MonitorCallback()
    if trainer is not None:
        trainer.add_callback(callback)
    return callback


def _log(trainer: Any, state: Any) -> Any:
    def log(values: Mapping[str, float], step: int) -> None:
        named = {f"gnomon/{name}": value for name, value in values.items()}
        if trainer is None:
            state.log_history.append({**named, "step": state.global_step})
        else:
            trainer.log(named)
        to_logging(values, step)

    return log
