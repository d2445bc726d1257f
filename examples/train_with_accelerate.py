"""Train under accelerate, on one process or several: `python examples/train_with_accelerate.py`.

`torchrun --nproc-per-node 2 examples/train_with_accelerate.py` (or `accelerate launch`) runs the same on two processes,
and ends at the same loss: each learns from every second row of a batch, and all weigh each letter alike. Two things
concern positions: parameter groups that keep weight decay off them, and ids that padding on the left does not move. The
task is to copy a row of random letters.
"""

import argparse

import torch
from accelerate import Accelerator
from torch import Tensor
from torch.nn.functional import cross_entropy

from gnomon import positions
from gnomon.encodings import T5Bias
from gnomon.finetune import parameter_groups
from gnomon.models import Decoder, ModelOptions

LETTERS, SEPARATOR, HEADS, BATCH, LONGEST = 12, 13, 4, 32, 6
SIZES = ModelOptions(vocabulary=LETTERS + 2, dim=64, num_layers=2, num_heads=HEADS)


def batch(step: int) -> tuple[Tensor, Tensor]:
    """Ids and attention mask (B, S) of one step, the same in every process: letters, a separator, the letters again."""
    generator = torch.Generator().manual_seed(step)
    letters = 1 + torch.randint(LETTERS, (BATCH, LONGEST), generator=generator)
    lengths = torch.randint(2, LONGEST + 1, (BATCH,), generator=generator)
    width = 2 * LONGEST + 1
    ids, mask = torch.zeros(BATCH, width, dtype=torch.int64), torch.zeros(BATCH, width, dtype=torch.int64)
    for row, length in enumerate(lengths.tolist()):
        word = letters[row, :length]
        told = torch.cat((word, torch.tensor([SEPARATOR]), word))
        ids[row, -len(told) :], mask[row, -len(told) :] = told, 1  # padded on the left
    return ids, mask


def loss_of(model: torch.nn.Module, ids: Tensor, mask: Tensor) -> Tensor:
    """Nats of all letters after the separator."""
    logits = model(ids, attention_mask=mask, positions=positions.from_mask(mask))[:, :-1]
    copied = (ids == SEPARATOR).cumsum(1)[:, :-1].bool()
    return cross_entropy(logits[copied], ids[:, 1:][copied], reduction="sum")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=300)
    steps = parser.parse_args().steps
    accelerator = Accelerator(cpu=True)
    torch.manual_seed(0)
    model = Decoder(SIZES, encoding=T5Bias(HEADS, num_buckets=16, max_distance=32, direction="causal"))
    optimizer = torch.optim.AdamW(parameter_groups(model, weight_decay=0.1), lr=3e-3)
    model, optimizer = accelerator.prepare(model, optimizer)
    share = slice(accelerator.process_index, None, accelerator.num_processes)
    told = []
    for step in range(steps):
        ids, mask = batch(step)
        letters = int((mask.sum() - BATCH) // 2)  # of the whole batch; gradients are averaged over the processes
        loss = loss_of(model, ids[share], mask[share]) * accelerator.num_processes / letters
        accelerator.backward(loss)
        optimizer.step()
        optimizer.zero_grad()
        told.append(accelerator.reduce(loss.detach(), "mean").item())
    accelerator.print(
        f"nats for each letter: {told[0]:.2f} at the start, {sum(told[-10:]) / 10:.2f} after {steps} steps"
    )
    accelerator.end_training()


if __name__ == "__main__":
    main()
