"""What each of two data-parallel processes does for claim 40: started with its rank and the file where they meet."""

import json
import sys
from typing import final

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel

from gnomon.encodings import Sinusoidal

PROCESSES, LENGTH, DIM = 2, 8, 6


@final
class Positions(nn.Module):
    """A table as a plain tensor, one as a buffer that is another in each process, and something to train."""

    def __init__(self, rank: int) -> None:
        super().__init__()
        self.computed = Sinusoidal(DIM).table(torch.arange(LENGTH))
        self.register_buffer("unequal", torch.full((LENGTH, DIM), float(rank)))
        self.linear = nn.Linear(DIM, 1)

    def forward(self, x: Tensor) -> Tensor:
        y: Tensor = self.linear(x + self.computed + self.get_buffer("unequal"))
        return y


def between(tensor: Tensor) -> float:
    """The largest difference between the processes."""
    every = [torch.empty_like(tensor) for _ in range(PROCESSES)]
    dist.all_gather(every, tensor.contiguous())
    return float((every[0] - every[1]).abs().max())


def take_part(rank: int, meeting: str) -> dict[str, float]:
    """What one process does; the numbers are the same in both."""
    dist.init_process_group("gloo", init_method=f"file://{meeting}", rank=rank, world_size=PROCESSES)
    module = Positions(rank)
    before = between(module.get_buffer("unequal"))
    wrapped = DistributedDataParallel(module)
    wrapped(torch.zeros(1, LENGTH, DIM)).sum().backward()
    numbers = {
        "computed tensor": between(module.computed),
        "buffer before": before,
        "buffer after": between(module.get_buffer("unequal")),
    }
    dist.barrier()  # who leaves first would cut the other off in the middle of its last gathering
    dist.destroy_process_group()
    return numbers


if __name__ == "__main__":
    sys.stdout.write(json.dumps(take_part(int(sys.argv[1]), sys.argv[2])))
