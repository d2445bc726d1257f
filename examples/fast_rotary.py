"""Make a transformers model rotate faster, and measure it: `python examples/fast_rotary.py [--tokens 512]`.

One call replaces the rotation of a Llama, and `remove()` puts it back. The numbers agree to rounding error, in half
precision they are better. The model is random, so nothing is downloaded; its sizes are those of one layer of a 1B
model. What a layer gains depends on how much else it does: both are printed.
"""

import argparse
import statistics
import time
from collections.abc import Callable

import torch
from transformers import LlamaConfig, LlamaForCausalLM
from transformers.models.llama import modeling_llama

from gnomon import fast_rotary

ROUNDS = 7
SAME = 1e-4


def llama() -> LlamaForCausalLM:
    torch.manual_seed(0)
    sizes = LlamaConfig(
        vocab_size=1000,
        hidden_size=1024,
        intermediate_size=2816,
        num_hidden_layers=2,
        num_attention_heads=16,
        num_key_value_heads=8,
        max_position_embeddings=8192,
    )
    return LlamaForCausalLM(sizes).eval()


def milliseconds(run: Callable[[], object]) -> float:
    """The median of some runs, after one that warms up."""
    run()
    taken = []
    for _ in range(ROUNDS):
        started = time.perf_counter()
        run()
        taken.append(time.perf_counter() - started)
    return 1000 * statistics.median(taken)


@torch.no_grad()
def rotation(model: LlamaForCausalLM, tokens: int) -> float:
    """Milliseconds of one layer's rotation, as the model does it now, tables included."""
    config = model.config
    q = torch.randn(1, config.num_attention_heads, tokens, config.head_dim)
    k = torch.randn(1, config.num_key_value_heads, tokens, config.head_dim)
    positions = torch.arange(tokens)[None]
    return milliseconds(lambda: modeling_llama.apply_rotary_pos_emb(q, k, *model.model.rotary_emb(q, positions)))


@torch.no_grad()
def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tokens", type=int, default=512)
    tokens = parser.parse_args().tokens
    if tokens < 1:
        parser.error("--tokens must be at least 1")
    model, words = llama(), torch.randint(1000, (1, tokens))

    before = model(words).logits
    slow, slow_whole = rotation(model, tokens), milliseconds(lambda: model(words))
    with fast_rotary(model) as replaced:
        after = model(words).logits
        fast, fast_whole = rotation(model, tokens), milliseconds(lambda: model(words))
        print("turned by", replaced.encoding)
    again = model(words).logits

    print(f"rotation with tables: {slow:.2f} ms before, {fast:.2f} ms after: {slow / fast:.1f} times faster")
    print(f"the whole model: {slow_whole:.0f} ms before, {fast_whole:.0f} ms after")
    print(f"logits differ by {(after - before).abs().max().item():.1e}, put back by {(again - before).abs().max():.1e}")
    if (after - before).abs().max() > SAME or not torch.equal(again, before):
        raise SystemExit(f"The logits should agree to {SAME}, and exactly when the rotation is put back.")


if __name__ == "__main__":
    main()
