"""Give a Hugging Face model the rotation of a gnomon encoding: `python examples/patch_huggingface.py`.

Models of the Llama family ask one module, `model.rotary_emb`, for cosines and sines. Put another one there and every
layer turns its queries and keys by it. The model is tiny and random, so nothing is downloaded.
"""

from typing import Any, final

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from transformers import LlamaConfig, LlamaForCausalLM

from gnomon.encodings import Rotary, from_hf_config
from gnomon.encodings.frequencies import YaRN

TRAINED, FACTOR, BASE = 64, 4.0, 10000.0
SAME = 1e-5


@final
class Rotation(nn.Module):
    """What transformers asks of `rotary_emb`: cosines and sines of the positions, each twice as pairs are halves."""

    def __init__(self, encoding: Rotary) -> None:
        super().__init__()
        if encoding.layout != "half" or encoding.length_dependent:
            raise ValueError(
                "Llama pairs halves, and its cache keeps rotated keys; use layout='half' and at_length(n)."
            )
        self.encoding = encoding

    def forward(
        self, x: Float[Tensor, "B S W"], position_ids: Int[Tensor, "#B S"]
    ) -> tuple[Float[Tensor, "#B S D"], Float[Tensor, "#B S D"]]:
        cos, sin = self.encoding.cos_sin(position_ids)
        return torch.cat((cos, cos), -1).to(x.dtype), torch.cat((sin, sin), -1).to(x.dtype)


def patch(model: Any, encoding: Rotary) -> None:
    """Let every layer rotate as the encoding says."""
    model.model.rotary_emb = Rotation(encoding)


def config(**rope: Any) -> LlamaConfig:
    return LlamaConfig(
        vocab_size=100,
        hidden_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        intermediate_size=96,
        max_position_embeddings=int(TRAINED * FACTOR),
        rope_parameters={"rope_theta": BASE, **rope},
    )


@torch.no_grad()
def main() -> None:
    torch.manual_seed(0)
    model = LlamaForCausalLM(config(rope_type="default")).eval()
    words = torch.randint(100, (2, 200))
    plain = model(words).logits

    own = from_hf_config(model.config)
    if not isinstance(own, Rotary):
        raise SystemExit(f"A Llama rotates, but its config gives {own}.")
    patch(model, own)
    unchanged = (model(words).logits - plain).abs().max().item()
    print(f"the model's own rule, patched in: logits differ by {unchanged:.1e}")

    theirs = LlamaForCausalLM(config(rope_type="yarn", factor=FACTOR, original_max_position_embeddings=TRAINED)).eval()
    theirs.load_state_dict(model.state_dict())
    expected = theirs(words).logits
    patch(model, Rotary(own.head_dim, frequencies=YaRN(FACTOR, TRAINED, base=BASE)))
    equal = (model(words).logits - expected).abs().max().item()
    print(f"YaRN patched in, against transformers' own YaRN: logits differ by {equal:.1e}")
    print(f"YaRN against the plain rule: logits differ by {(expected - plain).abs().max().item():.1e}")
    if max(unchanged, equal) > SAME:
        raise SystemExit(f"The logits should agree to {SAME}.")


if __name__ == "__main__":
    main()
