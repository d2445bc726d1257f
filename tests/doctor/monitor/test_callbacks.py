"""The monitor inside transformers' Trainer and inside Lightning."""

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from gnomon.doctor.monitor.lightning import lightning_callback
from gnomon.doctor.monitor.trainer import trainer_callback
from tests.helpers.gallery_training import LanguageModel
from tests.helpers.healthy import FOREIGN


def texts() -> list[dict[str, Tensor]]:
    rows = torch.randint(5, 60, (16, 12), generator=torch.Generator().manual_seed(0))
    return [{"input_ids": row, "labels": row} for row in rows]


def trainer(folder: Path, **options: Any) -> Any:
    from transformers import Trainer, TrainingArguments

    arguments = TrainingArguments(
        output_dir=str(folder),
        max_steps=4,
        per_device_train_batch_size=4,
        gradient_accumulation_steps=2,
        report_to=[],
        save_strategy="no",
        logging_strategy="no",
        disable_tqdm=True,
        use_cpu=True,
        dataloader_pin_memory=False,
    )
    return Trainer(model=FOREIGN["gpt-2"](), args=arguments, train_dataset=texts(), **options)


def test_the_trainer_gets_the_numbers_through_its_own_log(tmp_path: Path) -> None:
    loop = trainer(tmp_path)
    logged: list[dict[str, float]] = []
    own = loop.log

    def kept(logs: dict[str, float], *rest: Any, **more: Any) -> None:
        logged.append(dict(logs))
        own(logs, *rest, **more)

    loop.log = kept
    callback = trainer_callback(loop, every=2)
    loop.train()
    measured = [logs for logs in logged if any(name.startswith("gnomon/norm ratio/") for name in logs)]
    assert len(measured) == 2
    assert measured[0]["gnomon/positions/max"] == 11
    assert any(name.startswith("gnomon/loss/positions") for name in measured[0])
    assert [record["step"] for record in callback.monitor.history] == [1, 3]
    assert not loop.model._forward_pre_hooks


def test_without_a_trainer_the_numbers_go_to_its_history(tmp_path: Path) -> None:
    loop = trainer(tmp_path, callbacks=[trainer_callback(every=3)])
    loop.train()
    assert any("gnomon/update ratio/transformer.wpe.weight" in entry for entry in loop.state.log_history)


def test_lightning_gets_the_numbers_in_its_loggers(tmp_path: Path) -> None:
    from lightning.pytorch import LightningModule, Trainer
    from lightning.pytorch.loggers.logger import DummyLogger

    logged: list[dict[str, float]] = []

    class Kept(DummyLogger):
        def log_metrics(self, metrics: dict[str, float], step: int | None = None, **_: Any) -> None:
            logged.append(metrics)

    class Learner(LightningModule):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.network = LanguageModel()

        def training_step(self, batch: Tensor, number: int) -> Tensor:
            out: Tensor = self.network(batch)
            return torch.nn.functional.cross_entropy(out[:, :-1].flatten(0, 1), batch[:, 1:].flatten())

        def configure_optimizers(self) -> torch.optim.Optimizer:
            return torch.optim.AdamW(self.parameters())

    rows = torch.randint(5, 40, (16, 12), generator=torch.Generator().manual_seed(0))
    batches: Any = torch.utils.data.DataLoader(rows, batch_size=4)  # type: ignore[arg-type]
    callback = lightning_callback("network", every=2)
    quiet: dict[str, Any] = {"enable_progress_bar": False, "enable_model_summary": False, "enable_checkpointing": False}
    loop = Trainer(
        max_steps=4,
        accelerator="cpu",
        logger=Kept(),
        callbacks=[callback],
        default_root_dir=tmp_path,
        **quiet,
    )
    with pytest.warns():  # Lightning speaks of workers of the data loader
        loop.fit(Learner(), batches)
    assert [record["step"] for record in callback.monitor.history] == [1, 3]
    assert any(metrics.get("gnomon/positions/max") == 11 for metrics in logged)
