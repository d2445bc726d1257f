"""The monitor as a callback of Lightning's Trainer."""

from collections.abc import Mapping
from typing import Any

from gnomon.doctor.monitor.monitor import Monitor, to_logging


def lightning_callback(model: str | None = None, **options: Any) -> Any:
    """A Lightning Callback that monitors the module, or its attribute `model`; other options are those of Monitor.

    `model` is needed when the LightningModule itself is not what is called with a batch. Numbers go to every logger of
    the trainer. Its `monitor` is None until training begins.
    """
    from lightning.pytorch.callbacks import Callback

    class MonitorCallback(Callback):  # type: ignore[misc]
        monitor: Monitor | None = None

        def on_train_start(self, trainer: Any, pl_module: Any) -> None:
            watched = pl_module if model is None else pl_module.get_submodule(model)
            self.monitor = Monitor(watched, **{"log": _log(trainer), **options})

        def on_before_optimizer_step(self, trainer: Any, pl_module: Any, optimizer: Any) -> None:
            if self.monitor is not None:
                self.monitor.step()

        def on_train_end(self, trainer: Any, pl_module: Any) -> None:
            if self.monitor is not None:
                self.monitor.close()

    return MonitorCallback()


def _log(trainer: Any) -> Any:
    def log(values: Mapping[str, float], step: int) -> None:
        for each in trainer.loggers:
            each.log_metrics({f"gnomon/{name}": value for name, value in values.items()}, step=trainer.global_step)
        to_logging(values, step)

    return log
