"""A small run for tests of training; as a program, trains it and writes what came out: what `torchrun` starts.

`python -m torch.distributed.run --nproc-per-node 2 tests/helpers/lab_training.py OPTIONS FOLDER`, the options as JSON;
each process writes FOLDER/rank.json.
"""

import json
import sys
from pathlib import Path
from typing import Any

import torch

from gnomon.lab.experiments.context import Context
from gnomon.lab.experiments.train import Train
from gnomon.lab.measures.base import Trained


def small_run(**changed: Any) -> Train:
    """Rotary on copying, 12 steps of 6 rows whose lengths differ from step to step."""
    fields: dict[str, Any] = {
        "task": {"task": "copy", "symbols": 9},
        "measures": [{"measure": "exact_match", "lengths": [3, 5], "rows": 16}],
        "lengths": [1, 5],
        "model": {"dim": 16, "num_layers": 2, "num_heads": 2, "encoding": {"encoding": "rotary"}},
        "training": {"steps": 12, "batch_size": 6, "warmup": 3, "save_every": 5},
    }
    return Train(**{**fields, **changed})


def weights(trained: Trained) -> torch.Tensor:
    """All parameters as one vector."""
    return torch.cat([p.detach().flatten() for p in trained.model.parameters()])


if __name__ == "__main__":
    torch.set_num_threads(1)
    trained = small_run(**json.loads(sys.argv[1])).trained(Context(seed=3))
    accelerator = Context(seed=3).accelerator()
    told = {"losses": trained.history.losses, "weights": weights(trained).tolist()}
    told["processes"] = accelerator.num_processes
    Path(sys.argv[2], f"{accelerator.process_index}.json").write_text(json.dumps(told), encoding="utf-8")
