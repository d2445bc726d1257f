"""Small hand-written Transformers for the doctor: healthy as they stand, and broken by overriding one method."""

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812 - torch's own name for it

from gnomon.adapters import load_subject
from gnomon.adapters.subject import Subject
from gnomon.doctor import run
from gnomon.report.document import CheckResult, Finding
from tests.helpers.healthy import SIZES

VOCABULARY, DIM, HEADS = 40, 32, 4


class Layer(nn.Module):
    """Attention and a feed-forward part, pre-norm. `bias` (B or 1, H or 1, Q, K) is added to the logits."""

    def __init__(self) -> None:
        super().__init__()
        self.norm, self.qkv, self.out = nn.LayerNorm(DIM), nn.Linear(DIM, 3 * DIM), nn.Linear(DIM, DIM)
        self.mix = nn.Sequential(nn.LayerNorm(DIM), nn.Linear(DIM, 48), nn.GELU(), nn.Linear(48, DIM))

    def forward(self, x: Tensor, bias: Tensor) -> Tensor:
        q, k, v = (t.unflatten(-1, (HEADS, -1)).transpose(1, 2) for t in self.qkv(self.norm(x)).chunk(3, dim=-1))
        x = x + self.out(F.scaled_dot_product_attention(q, k, v, attn_mask=bias).transpose(1, 2).flatten(2))
        mixed: Tensor = x + self.mix(x)
        return mixed


class Toy(nn.Module):
    """Words and a learned table, layers that look both ways. Subclasses override `embed`, `ids` or `bias`."""

    def __init__(self, *, rows: int = 64, layers: int = 2, vocabulary: int = VOCABULARY) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.words, self.positions = nn.Embedding(vocabulary, DIM), nn.Embedding(rows, DIM)
        self.layers = nn.ModuleList([Layer() for _ in range(layers)])

    def embed(self, tokens: Tensor, ids: Tensor) -> Tensor:
        x: Tensor = self.words(tokens) + self.positions(ids)
        return x

    def ids(self, mask: Tensor) -> Tensor:
        """Position ids from a mask (B, S) of 1 for real tokens."""
        return (mask.long().cumsum(1) - 1).clamp(min=0)

    def bias(self, mask: Tensor) -> Tensor:
        """What is added to the logits: minus infinity for padded keys."""
        return torch.zeros_like(mask, dtype=torch.float32).masked_fill(~mask.bool(), -torch.inf)[:, None, None, :]

    def forward(
        self, tokens: Tensor, attention_mask: Tensor | None = None, position_ids: Tensor | None = None
    ) -> Tensor:
        mask = torch.ones_like(tokens) if attention_mask is None else attention_mask
        x = self.embed(tokens, self.ids(mask) if position_ids is None else position_ids)
        for layer in self.layers:
            x = layer(x, self.bias(mask))
        return x


class ToyDecoder(Toy):
    """The same with a causal mask; a padded query still sees itself, so that nothing is NaN."""

    def bias(self, mask: Tensor) -> Tensor:
        length = mask.shape[1]
        places = torch.arange(length, device=mask.device)
        seen = mask.bool()[:, None, None, :] & (places <= places[:, None])
        return torch.zeros_like(seen, dtype=torch.float32).masked_fill(
            ~(seen | (places == places[:, None])), -torch.inf
        )


class OverTheBatch(Toy):
    """Adds rows of the table along the batch axis, as sequence-first code does with batch-first tensors."""

    def embed(self, tokens: Tensor, ids: Tensor) -> Tensor:
        x: Tensor = self.words(tokens) + self.positions(torch.arange(len(tokens), device=tokens.device))[:, None]
        return x


def llama(**options: Any) -> Any:
    """A tiny Llama of transformers; `options` go to its config."""
    import transformers

    torch.manual_seed(0)
    return transformers.LlamaForCausalLM(transformers.LlamaConfig(**{**SIZES, **options})).eval()


def subject_of(target: Any, **evidence: Any) -> Subject:
    """The subject of a module, or of (module, example); `evidence` wins over what the adapters find."""
    return load_subject(target).with_evidence(**evidence)


def examine(code: str, target: Any, **evidence: Any) -> CheckResult:
    """One check on one model."""
    return run(code, subject_of(target, **evidence))


def only_finding(result: CheckResult) -> Finding:
    """The one finding of a check that failed."""
    assert result.status == "failed", (result.status, result.detail)
    [finding] = result.findings
    return finding
