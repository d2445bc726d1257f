"""What share of training the monitor takes with its default settings, on a small GPT on the CPU.

`python -m benchmarks.monitor_cost` trains for a few hundred steps and adds up the time inside the monitor and outside
of it in the same run; the limit is 2%.
"""

import sys
import time

import torch
from torch.nn import functional as F  # noqa: N812 - torch's own name for it

from gnomon.doctor.monitor import Monitor
from gnomon.encodings import Learned, PositionEncoding, Rotary
from gnomon.models import Decoder, ModelOptions

DIM, HEADS, LAYERS, WORDS, BATCH, LENGTH = 128, 4, 4, 2000, 16, 128
LIMIT = 0.02


def share(encoding: PositionEncoding, steps: int) -> float:
    """Time inside the monitor over time in the rest of the loop; the forward's hook is counted with the rest."""
    torch.manual_seed(0)
    model = Decoder(ModelOptions(vocabulary=WORDS, dim=DIM, num_heads=HEADS, num_layers=LAYERS), encoding=encoding)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
    inside = 0.0
    with Monitor(model, log=lambda values, step: None) as monitor:
        started = time.perf_counter()
        for _ in range(steps):
            tokens = torch.randint(0, WORDS, (BATCH, LENGTH))
            optimizer.zero_grad()
            loss = F.cross_entropy(model(tokens)[:, :-1].flatten(0, 1), tokens[:, 1:].flatten())
            loss.backward()
            before = time.perf_counter()
            monitor.step({"ids": tokens, "labels": tokens}, loss)
            inside += time.perf_counter() - before
            optimizer.step()
    return inside / (time.perf_counter() - started - inside)


def main(steps: int = 100) -> int:
    """Print the share for two encodings; the exit code is 1 when one is above the limit."""
    found = {"learned": share(Learned(LENGTH, DIM), steps), "rotary": share(Rotary(DIM // HEADS), steps)}
    for name, value in found.items():
        sys.stdout.write(f"monitor, {name} positions: {value:.2%} of the time of training (limit {LIMIT:.0%})\n")
    return int(max(found.values()) > LIMIT)


if __name__ == "__main__":
    raise SystemExit(main())
