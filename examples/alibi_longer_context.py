"""Train on short texts, read texts four times as long: `python examples/alibi_longer_context.py`.

A small decoder of bytes learns from Python's own standard library in pieces of 64 bytes, once with ALiBi and once with
a learned table, which needs rows for the longer texts from the start and never trains them. Then both predict the same
last 16 bytes of pieces of 64, 128 and 256 bytes; only the context before them grows. With ALiBi the longer context does
no harm; the rows that training never reached do. Less than a minute on one core.
"""

import argparse
import math
import pathlib
import statistics
import typing
from pathlib import Path

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from gnomon.encodings import ALiBi, Learned, PositionEncoding
from gnomon.models import Decoder, ModelOptions

TRAINED, LONGEST, LAST = 64, 256, 16
HEADS, DIM, BATCH = 4, 64, 32
SIZES = ModelOptions(vocabulary=256, dim=DIM, num_layers=2, num_heads=HEADS)


def contents(*paths: str) -> Tensor:
    """The bytes of some files, one after another."""
    joined = bytearray().join(Path(path).read_bytes() for path in paths)
    return torch.frombuffer(joined, dtype=torch.uint8).long()


def train(model: Decoder, learned: Tensor, steps: int) -> None:
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    generator = torch.Generator().manual_seed(0)
    for step in range(steps):
        for group in optimizer.param_groups:
            group["lr"] = 3e-3 * min((step + 1) / 20, math.cos(math.pi / 2 * step / steps))
        starts = torch.randint(len(learned) - TRAINED, (BATCH, 1), generator=generator)
        rows = learned[starts + torch.arange(TRAINED + 1)]
        loss = cross_entropy(model(rows[:, :-1]).flatten(0, 1), rows[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


@torch.no_grad()
def perplexity(model: Decoder, held_out: Tensor, length: int) -> float:
    """Of the last LAST bytes of pieces of `length`; the pieces end at the same bytes whatever their length is."""
    ends = torch.arange(LONGEST, len(held_out) - 1, 97)[:64, None]
    rows = held_out[ends - length + torch.arange(length + 1)]
    logits = model(rows[:, :-1])[:, -LAST:]
    return math.exp(cross_entropy(logits.flatten(0, 1), rows[:, -LAST:].flatten()).item())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=600)
    steps = parser.parse_args().steps
    learned, held_out = contents(argparse.__file__, pathlib.__file__, typing.__file__), contents(statistics.__file__)
    encodings: tuple[PositionEncoding, ...] = (ALiBi(HEADS, form="symmetric"), Learned(LONGEST, DIM))
    for encoding in encodings:
        torch.manual_seed(0)
        model = Decoder(SIZES, encoding=encoding)
        train(model, learned, steps)
        found = [perplexity(model, held_out, length) for length in (TRAINED, 2 * TRAINED, LONGEST)]
        told = ", ".join(f"{value:.2f} at {length}" for value, length in zip(found, (64, 128, 256), strict=True))
        print(f"{type(encoding).__name__:<8} trained at {TRAINED}: perplexity of the last {LAST} bytes {told}")


if __name__ == "__main__":
    main()
