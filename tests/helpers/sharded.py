"""Run as a process: FSDP2 with bfloat16 parameters around a small decoder with each encoding, one rank, on the CPU.

Writes, for each name given, the hooks in which the sharded encoding is not a new one, as `tests.helpers.casts` has it.
"""

import json
import sys
import tempfile
from pathlib import Path

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed import FileStore  # type: ignore[attr-defined]
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard
from torch.distributed.tensor import DTensor

from tests.helpers.casts import call, differences, model_of


def sharded(name: str) -> list[str]:
    """Made on the meta device, sharded, filled, trained for one step; then its encoding is held against a new one."""
    with torch.device("meta"):
        model = model_of(name)
    fully_shard(model, mp_policy=MixedPrecisionPolicy(param_dtype=torch.bfloat16))
    model.to_empty(device="cpu")
    fill(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    logits = call(model)
    if logits.dtype != torch.bfloat16:
        return [f"the logits are {logits.dtype}"]
    logits.float().square().mean().backward()
    optimizer.step()
    model.unshard()  # type: ignore[operator]
    return differences(model.encoding)


def fill(model: nn.Module) -> None:
    """Numbers for the shards of all parameters, and none for buffers: memory may hold the right ones by chance."""
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for parameter in model.parameters():
            assert isinstance(parameter, DTensor)
            parameter.to_local().normal_(std=0.2, generator=generator)
        for buffer in model.buffers():
            buffer.fill_(torch.nan)


def main(names: list[str], file: Path) -> None:
    with tempfile.TemporaryDirectory() as folder:
        store = FileStore(str(Path(folder) / "store"), 1)
        dist.init_process_group("gloo", store=store, rank=0, world_size=1)
        init_device_mesh("cpu", (1,))
        found = {name: sharded(name) for name in names}
        dist.destroy_process_group()
    file.write_text(json.dumps(found))


if __name__ == "__main__":
    main(sys.argv[2:], Path(sys.argv[1]))
