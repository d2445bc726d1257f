"""Serve a batch of prompts of different lengths with a KV cache: `python examples/serve_with_cache.py`.

Prompts are padded on the left, so that all rows decode at the last slot. The slot of a token is then not its position:
positions count real tokens, and behind a cache they go on from there. Each row must get what it gets alone, at every
step; this program holds the model to that, for an encoding of each kind. The second half is a server's day: a row
ends, its slots in the cache are dropped, and the others go on.
"""

import torch
from torch import Tensor

from gnomon import positions
from gnomon.encodings import ALiBi, Learned, PositionEncoding, Rotary, T5Bias
from gnomon.models import Decoder, ModelOptions

PROMPTS = ([5, 17, 3, 29, 8, 41, 2], [11, 23], [7, 19, 31, 43])
HEADS, DIM, STEPS = 4, 32, 12
SAME = 1e-4
SIZES = ModelOptions(vocabulary=50, dim=DIM, num_layers=2, num_heads=HEADS)


def padded(prompts: tuple[list[int], ...]) -> tuple[Tensor, Tensor]:
    """Ids and the attention mask, (B, S) each: zeros on the left."""
    width = max(map(len, prompts))
    ids = torch.tensor([[0] * (width - len(prompt)) + prompt for prompt in prompts])
    mask = torch.tensor([[0] * (width - len(prompt)) + [1] * len(prompt) for prompt in prompts])
    return ids, mask


@torch.no_grad()
def serve(model: Decoder) -> Tensor:
    """The logits of each step, (B, STEPS, vocabulary): first of the whole prompts, then token by token."""
    ids, mask = padded(PROMPTS)
    cache = model.new_cache()
    latest = model(ids, attention_mask=mask, positions=positions.from_mask(mask), cache=cache)[:, -1:]
    steps = [latest]
    for _ in range(STEPS - 1):
        mask = torch.cat((mask, mask.new_ones(len(mask), 1)), dim=1)  # the whole mask, cache included
        latest = model(latest.argmax(-1), positions=positions.after_mask(mask, new=1), cache=cache)
        steps.append(latest)
    return torch.cat(steps, dim=1)


@torch.no_grad()
def alone(model: Decoder, prompt: list[int]) -> Tensor:
    """The same for one prompt without padding and without a cache, (STEPS, vocabulary)."""
    ids, steps = torch.tensor([prompt]), []
    for _ in range(STEPS):
        steps.append(model(ids)[0, -1])
        ids = torch.cat((ids, steps[-1].argmax().view(1, 1)), dim=1)
    return torch.stack(steps)


@torch.no_grad()
def one_row_ends(model: Decoder) -> float:
    """Drop the middle row after the prompts; how far the other two then are from what they get alone."""
    ids, mask = padded(PROMPTS)
    cache = model.new_cache()
    latest = model(ids, attention_mask=mask, cache=cache)[:, -1:].argmax(-1)
    kept = torch.tensor([0, 2])
    cache.reorder(kept)
    logits = model(latest[kept], cache=cache)[:, -1]
    return max(float((logits[i] - alone(model, PROMPTS[row])[1]).abs().max()) for i, row in enumerate([0, 2]))


def main() -> None:
    encodings: tuple[PositionEncoding, ...] = (Rotary(DIM // HEADS), ALiBi(HEADS), T5Bias(HEADS), Learned(64, DIM))
    for encoding in encodings:
        torch.manual_seed(0)
        model = Decoder(SIZES, encoding=encoding).eval()
        together = serve(model)
        worst = max(
            float((row - alone(model, prompt)).abs().max()) for row, prompt in zip(together, PROMPTS, strict=True)
        )
        dropped = one_row_ends(model)
        print(
            f"{type(encoding).__name__:<8} batch against single prompts: {worst:.1e}; after a row ended: {dropped:.1e}"
        )
        if max(worst, dropped) > SAME:
            raise SystemExit(f"A row of a batch should get what it gets alone, to {SAME}.")


if __name__ == "__main__":
    main()
