"""A Llama written by hand, as trainers have them: one projection for queries, keys and values, and either rotation."""

from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

HEADS, KEY_HEADS, WIDTH, DIM, INNER, VOCABULARY, BASE = 4, 2, 8, 32, 48, 40, 1e4
CONFIG = {
    "model_type": "llama",
    "architectures": ["LlamaForCausalLM"],
    "hidden_size": DIM,
    "num_attention_heads": HEADS,
    "num_key_value_heads": KEY_HEADS,
    "num_hidden_layers": 2,
    "intermediate_size": INNER,
    "vocab_size": VOCABULARY,
    "max_position_embeddings": 64,
    "rope_theta": BASE,
    "rms_norm_eps": 1e-5,
    "tie_word_embeddings": False,
    "bos_token_id": 1,
    "eos_token_id": 2,
}
PAIRS_TO_HALVES = [0, 2, 4, 6, 1, 3, 5, 7]


class Trained(nn.Module):
    """Two layers; `interleaved` rotates lanes (2i, 2i + 1), else (i, i + 4)."""

    def __init__(self, *, interleaved: bool, std: float = 0.2) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.interleaved = interleaved
        self.embed = nn.Embedding(VOCABULARY, DIM)
        self.layers = nn.ModuleList([_Layer() for _ in range(2)])
        self.norm, self.head = nn.RMSNorm(DIM, eps=1e-5), nn.Linear(DIM, VOCABULARY, bias=False)
        for weight in self.parameters():
            if weight.ndim == 2:
                nn.init.normal_(weight, std=std)

    def rotate(self, x: Tensor) -> Tensor:
        """(B, H, S, D)"""
        frequencies = BASE ** (-torch.arange(0, WIDTH, 2, device=x.device) / WIDTH)
        angles = torch.arange(x.shape[2], device=x.device)[:, None] * frequencies
        cos, sin = angles.cos(), angles.sin()
        if self.interleaved:
            a, b = x[..., ::2], x[..., 1::2]
            return torch.stack([a * cos - b * sin, a * sin + b * cos], dim=-1).flatten(-2)
        a, b = x.chunk(2, dim=-1)
        return torch.cat([a * cos - b * sin, a * sin + b * cos], dim=-1)

    def forward(self, tokens: Tensor) -> Tensor:
        x: Tensor = self.embed(tokens)
        for layer in self.layers:
            x = layer(x, self.rotate)
        logits: Tensor = self.head(self.norm(x))
        return logits

    def export(self, folder: Path, *, gathered: bool, **config: Any) -> Path:
        """Files as transformers reads them; `gathered`: rows of queries and keys moved from pairs to halves."""
        import json

        from safetensors.torch import save_file

        tensors = {"model.embed_tokens.weight": self.embed.weight, "lm_head.weight": self.head.weight}
        tensors["model.norm.weight"] = self.norm.weight
        for number in range(len(self.layers)):
            layer: Any = self.layers[number]
            tensors |= {f"model.layers.{number}.{name}": value for name, value in layer.exported(gathered).items()}
        save_file({k: v.detach().contiguous().clone() for k, v in tensors.items()}, folder / "model.safetensors")
        (folder / "config.json").write_text(json.dumps(CONFIG | config))
        return folder


def teacher() -> Trained:
    """A sharp model, sure of what comes next."""
    return Trained(interleaved=True, std=0.5)


def written(model: Trained, tokens: int = 60) -> Tensor:
    """(S,) int64, drawn from the model's own logits: text that it knows."""
    generator, ids = torch.Generator().manual_seed(0), torch.tensor([[3]])
    with torch.no_grad():
        for _ in range(tokens):
            ids = torch.cat([ids, torch.multinomial(model(ids)[:, -1].softmax(-1), 1, generator=generator)], dim=1)
    return ids[0]


class _Layer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.qkv_proj = nn.Linear(DIM, (HEADS + 2 * KEY_HEADS) * WIDTH, bias=False)
        self.out, self.norm, self.second = nn.Linear(DIM, DIM, bias=False), _norm(), _norm()
        self.gate, self.up = nn.Linear(DIM, INNER, bias=False), nn.Linear(DIM, INNER, bias=False)
        self.down = nn.Linear(INNER, DIM, bias=False)

    def forward(self, x: Tensor, rotate: Any) -> Tensor:
        parts = self.qkv_proj(self.norm(x)).unflatten(-1, (-1, WIDTH)).transpose(1, 2)
        q, k, v = parts.split([HEADS, KEY_HEADS, KEY_HEADS], dim=1)
        k, v = (part.repeat_interleave(HEADS // KEY_HEADS, dim=1) for part in (k, v))
        mixed = nn.functional.scaled_dot_product_attention(rotate(q), rotate(k), v, is_causal=True)
        x = x + self.out(mixed.transpose(1, 2).flatten(2))
        y = self.second(x)
        result: Tensor = x + self.down(nn.functional.silu(self.gate(y)) * self.up(y))
        return result

    def exported(self, gathered: bool) -> dict[str, Tensor]:
        q, k, v = self.qkv_proj.weight.split([HEADS * WIDTH, KEY_HEADS * WIDTH, KEY_HEADS * WIDTH])
        if gathered:
            q, k = (rows.unflatten(0, (-1, WIDTH))[:, PAIRS_TO_HALVES].flatten(0, 1) for rows in (q, k))
        named = {
            "self_attn.q_proj": q,
            "self_attn.k_proj": k,
            "self_attn.v_proj": v,
            "self_attn.o_proj": self.out.weight,
        }
        named |= {"mlp.gate_proj": self.gate.weight, "mlp.up_proj": self.up.weight, "mlp.down_proj": self.down.weight}
        named |= {"input_layernorm": self.norm.weight, "post_attention_layernorm": self.second.weight}
        return {f"{name}.weight": value for name, value in named.items()}


def _norm() -> nn.RMSNorm:
    return nn.RMSNorm(DIM, eps=1e-5)
