"""The monitor around wrapped, compiled and failing models, and what it keeps alive."""

import logging
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812 - torch's own name for it

from gnomon.doctor.monitor import Monitor
from gnomon.errors import GnomonError
from tests.helpers.gallery_training import LanguageModel
from tests.helpers.monitored import quiet, rows, train
from tests.helpers.toys import Toy


def test_wrapped_and_compiled_models_are_watched_inside() -> None:
    from gnomon.doctor.monitor.targets import unwrap

    model = Toy().train()
    compiled = torch.compile(model, backend="eager")
    assert unwrap(compiled) is model  # type: ignore[arg-type]
    assert unwrap(nn.DataParallel(model)) is model
    with Monitor(compiled, every=1, log=quiet) as monitor:  # type: ignore[arg-type]
        for seed in range(2):
            compiled(rows(seed)).sum().backward()
            monitor.step()
    assert [record["positions/max"] for record in monitor.history] == [23, 23]


def test_data_parallel_processes_are_watched(tmp_path: Any) -> None:
    import torch.distributed as dist

    dist.init_process_group("gloo", init_method=f"file://{tmp_path}/store", rank=0, world_size=1)
    try:
        model = nn.parallel.DistributedDataParallel(LanguageModel().train())
        with Monitor(model, every=1, log=quiet) as monitor:
            train(model, 2, monitor)
    finally:
        dist.destroy_process_group()
    assert "norm ratio/positions.weight" in monitor.history[1]


def test_a_forward_that_fails_leaves_sizes_and_is_said_once(caplog: pytest.LogCaptureFixture) -> None:
    class Odd(Toy):
        def forward(self, *args: Any, **kwargs: Any) -> Tensor:
            if not self.training:
                raise RuntimeError("only for training")
            return super().forward(*args, **kwargs)

    model = Odd().train()
    with Monitor(model, every=1, log=quiet) as monitor:
        for seed in range(2):
            model(rows(seed)).sum().backward()
            monitor.step()
    assert sum("only for training" in record.getMessage() for record in caplog.records) == 1
    assert "norm ratio/positions.weight" in monitor.history[1]
    assert model.training


def test_no_graph_and_no_batch_is_kept_alive() -> None:
    import gc
    import weakref

    model = Toy().train()
    monitor = Monitor(model, every=5, log=quiet)
    tokens = rows(0)
    out = model(tokens)
    loss = out.sum()
    loss.backward()
    monitor.step({"tokens": tokens}, loss)
    held = [weakref.ref(x) for x in (out, loss, tokens)]
    del out, loss, tokens
    gc.collect()
    assert [ref() for ref in held] == [None, None, None]
    monitor.close()


def test_scaled_gradients_give_the_same_ratios() -> None:
    model = LanguageModel().train()
    tokens = rows(0)
    F.cross_entropy(model(tokens)[:, :-1].flatten(0, 1), tokens[:, 1:].flatten()).backward()
    found = []
    for _ in range(2):
        with Monitor(model, log=quiet) as monitor:
            monitor.step({"tokens": tokens})
        found.append(monitor.history[0]["gradient ratio/positions.weight"])
        for parameter in model.parameters():
            assert parameter.grad is not None
            parameter.grad *= 1024
    assert found[0] == pytest.approx(found[1], rel=1e-6)


def test_numbers_go_to_the_logger_by_default(caplog: pytest.LogCaptureFixture) -> None:
    model = Toy().train()
    with caplog.at_level(logging.INFO, "gnomon.monitor"), Monitor(model) as monitor:
        model(rows(0)).sum().backward()
        monitor.step()
    assert "step 1: norm ratio/positions.weight" in caplog.text


@pytest.mark.parametrize("options", [{"every": 0}, {"tokens": 0}])
def test_options_that_mean_nothing_are_refused(options: dict[str, int]) -> None:
    with pytest.raises(GnomonError, match="at least 1"):
        Monitor(Toy(), **options)  # type: ignore[arg-type]
