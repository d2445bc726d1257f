"""Training: against a loop written out by hand, over processes, in other precisions, and what it refuses."""

import json
import math
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from torch.nn.functional import cross_entropy

from gnomon.errors import GnomonError
from gnomon.lab.experiments.context import Context
from gnomon.lab.tasks.base import IGNORED, build_task
from gnomon.lab.training.options import Placing, TrainingOptions
from tests.helpers.lab_training import small_run, weights

ROOT = Path(__file__).parents[3]


def test_the_loop_equals_one_written_out_without_accelerate() -> None:
    run = small_run()
    trained = run.trained(Context(seed=3))
    context, options, task = Context(seed=3), TrainingOptions(**run.training), build_task("copy", {"symbols": 9})
    model = run.untrained(task, Placing(), context)
    optimizer = torch.optim.AdamW(model.parameters(), betas=(0.9, 0.98), weight_decay=0.01)
    losses = []
    for step in range(12):
        generator = context.generator("step", step)
        length = int(torch.randint(1, 6, (), generator=generator))
        batch = task.batch("train", length, 6, generator)
        up = (step + 1) / 3
        share = up if step < 3 else 0.05 + 0.95 * (1 + math.cos(math.pi * (step - 3) / 8)) / 2
        optimizer.param_groups[0]["lr"] = options.learning_rate * share
        loss = cross_entropy(model(batch.ids).transpose(1, 2), batch.labels, ignore_index=IGNORED)
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        losses.append(loss.item())
    assert trained.history.losses == pytest.approx(losses, rel=1e-5)
    expected = torch.cat([p.detach().flatten() for p in model.parameters()])
    torch.testing.assert_close(weights(trained), expected, rtol=1e-4, atol=1e-5)
    assert len({round(loss, 3) for loss in losses}) > 6  # it does move


@pytest.mark.parametrize(
    "changed",
    [
        {},
        {"placing": {"kind": "offset", "limit": 20}, "model": {"dim": 16, "encoding": {"encoding": "learned"}}},
        {"task": {"task": "flip_flop", "ignore": 0.4}, "lengths": [2, 9]},
    ],
    ids=["rotary", "learned with offsets", "rows with uneven numbers of scored slots"],
)
def test_two_processes_give_the_loss_curve_of_one(tmp_path: Path, changed: dict[str, object]) -> None:
    alone = small_run(**changed).trained(Context(seed=3))
    command = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "2"]
    command += ["--rdzv-backend", "c10d", "--rdzv-endpoint", "localhost:0"]
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": path}
    program = [str(ROOT / "tests" / "helpers" / "lab_training.py"), json.dumps(changed), str(tmp_path)]
    done = subprocess.run([*command, *program], capture_output=True, text=True, env=environment, timeout=120)
    assert done.returncode == 0, done.stderr[-2000:]
    told = [json.loads((tmp_path / f"{rank}.json").read_text(encoding="utf-8")) for rank in (0, 1)]
    for each in told:
        assert each["processes"] == 2
        assert each["losses"] == pytest.approx(alone.history.losses, rel=2e-5)
        apart = (torch.tensor(each["weights"]) - weights(alone)).abs()
        assert float(apart.mean()) < 1e-5  # Adam divides by the size of a gradient, so tiny ones move some entries more
        assert float(apart.max()) < 3e-3


def test_the_same_seed_gives_the_same_numbers_and_another_seed_others() -> None:
    first, again, other = (small_run().trained(Context(seed=seed)) for seed in (1, 1, 2))
    assert first.history.losses == again.history.losses
    assert torch.equal(weights(first), weights(again))
    assert first.history.losses != other.history.losses


def test_all_encodings_see_the_same_rows_in_the_same_order() -> None:
    seen: dict[str, list[torch.Tensor]] = {}
    for name in ("nope", "alibi"):
        run = small_run(model={"dim": 16, "encoding": {"encoding": name}})
        model = run.untrained(build_task("copy", {"symbols": 9}), Placing(), Context(0))
        seen[name] = [model.stack.embedding.words.weight.detach()]
    assert torch.equal(seen["nope"][0], seen["alibi"][0])  # and they start from the same words


def test_torchs_own_generator_is_left_as_it_was() -> None:
    torch.manual_seed(5)
    before = torch.random.get_rng_state()
    small_run().run(Context(seed=0))
    assert torch.equal(torch.random.get_rng_state(), before)


def test_bfloat16_trains_under_autocast_and_leaves_the_forward_as_it_was() -> None:
    run = small_run(training={"steps": 4, "batch_size": 4, "precision": "bf16"})
    trained, exact = run.trained(Context(0)), small_run(training={"steps": 4, "batch_size": 4}).trained(Context(0))
    assert trained.history.losses == pytest.approx(exact.history.losses, rel=0.05)
    assert trained.history.losses != exact.history.losses
    ids = torch.tensor([[0, 4, 5, 1]])
    assert torch.equal(trained.model(ids), type(trained.model).forward(trained.model, ids))  # no autocast is left


def test_progress_counts_every_step() -> None:
    told: list[tuple[int, int]] = []
    small_run().trained(Context(0, progress=lambda done, total: told.append((done, total))))
    assert told == [(step, 12) for step in range(1, 13)]


def test_a_loss_that_is_not_finite_ends_the_run_with_its_step() -> None:
    run = small_run(training={"steps": 9, "batch_size": 4, "learning_rate": 1e30, "warmup": 0})
    with pytest.raises(GnomonError, match=r"not finite at step \d; lower the learning rate"):
        run.trained(Context(0))


@pytest.mark.parametrize(
    ("training", "words"),
    [
        ({"steps": 0}, "steps of at least 1, got 0"),
        ({"batch_size": -1}, "batch_size of at least 1, got -1"),
        ({"learning_rate": 0.0}, "learning_rate"),
        ({"precision": "int8"}, "one of no, bf16, fp16, got 'int8'"),
    ],
)
def test_impossible_training_is_refused(training: dict[str, object], words: str) -> None:
    with pytest.raises(GnomonError, match=words):
        small_run(training=training).trained(Context(0))
