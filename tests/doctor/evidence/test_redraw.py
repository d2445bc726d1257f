"""Redrawn weights: matrices large enough to show faults, tables in their old proportions, nothing else touched."""

import math

import pytest
import torch
from torch import Tensor, nn

from gnomon.doctor.evidence.redraw import redraw
from tests.helpers.tiny_transformers import tiny_model


class Small(nn.Module):
    """One of each thing that a model holds, initialised with std 0.02 as transformers do."""

    def __init__(self, *, tied: bool = False, std: float = 0.02) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.words = nn.Embedding(200, 64)
        self.positions = nn.Embedding(100, 64)
        self.nothing = nn.Embedding(10, 64)
        self.wide = nn.Linear(64, 256)
        self.norm = nn.LayerNorm(64)
        self.attention = nn.MultiheadAttention(64, 4)
        self.convolution = nn.Conv1d(64, 64, 3)
        self.bare = nn.Parameter(torch.randn(50, 64) * std)
        self.register_buffer("fixed", torch.randn(50, 64))
        self.head = nn.Linear(64, 200, bias=False)
        for weight in (self.words.weight, self.positions.weight, self.wide.weight, self.head.weight):
            nn.init.normal_(weight, std=std)
        self.positions.weight.data.mul_(0.5)
        nn.init.zeros_(self.nothing.weight)
        if tied:
            self.head.weight = self.words.weight


def rms(tensor: Tensor) -> float:
    return float(tensor.detach().square().mean().sqrt())


def test_matrices_get_a_spread_of_their_input_width() -> None:
    module = Small()
    redraw(module)
    assert rms(module.wide.weight) == pytest.approx(1.6 / math.sqrt(64), rel=0.05)
    assert rms(module.head.weight) == pytest.approx(1.6 / math.sqrt(64), rel=0.05)
    assert rms(module.attention.in_proj_weight) == pytest.approx(1.6 / math.sqrt(64), rel=0.05)


def test_the_matrices_of_gpt2_are_turned_around_and_read_so() -> None:
    module = tiny_model("gpt2")
    redraw(module)
    projection = dict(module.named_parameters())["h.0.mlp.c_proj.weight"]
    assert projection.shape == (128, 32)
    assert rms(projection) == pytest.approx(1.6 / math.sqrt(128), rel=0.05)


@pytest.mark.parametrize("tied", [False, True])
def test_tables_grow_by_one_common_factor(tied: bool) -> None:
    before, module = Small(tied=tied), Small(tied=tied)
    redraw(module)
    assert rms(module.words.weight) == pytest.approx(0.2, rel=1e-5)
    factor = rms(module.words.weight) / rms(before.words.weight)
    torch.testing.assert_close(module.words.weight, before.words.weight * factor)
    torch.testing.assert_close(module.positions.weight, before.positions.weight * factor)
    assert (module.head.weight is module.words.weight) == tied


@pytest.mark.parametrize(("std", "grows"), [(0.049, True), (0.051, False)])
def test_only_small_tables_grow(std: float, grows: bool) -> None:
    before, module = Small(std=std), Small(std=std)
    redraw(module)
    assert torch.equal(before.words.weight, module.words.weight) != grows


def test_a_table_of_zeros_stays_one() -> None:
    module = Small()
    redraw(module)
    assert not module.nothing.weight.any()


@pytest.mark.parametrize(
    "name", ["norm.weight", "norm.bias", "wide.bias", "attention.in_proj_bias", "convolution.weight", "bare", "fixed"]
)
def test_norms_biases_convolutions_bare_parameters_and_buffers_stay(name: str) -> None:
    before, module = Small(), Small()
    redraw(module)
    old, new = ({**dict(m.named_parameters()), **dict(m.named_buffers())}[name] for m in (before, module))
    assert torch.equal(old, new)


def test_the_same_weights_are_drawn_each_time_and_the_generator_is_left_alone() -> None:
    first, second = Small(), Small()
    redraw(first)
    torch.manual_seed(99)
    state = torch.get_rng_state()
    redraw(second)
    assert torch.equal(torch.get_rng_state(), state)
    assert torch.equal(first.wide.weight, second.wide.weight)


@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16])
def test_dtype_and_gradients_are_kept(dtype: torch.dtype) -> None:
    module = Small().to(dtype)
    module.wide.weight.requires_grad_(False)
    redraw(module)
    assert all(p.dtype == dtype for p in module.parameters())
    assert not module.wide.weight.requires_grad
    assert module.head.weight.requires_grad
    assert module.head.weight.is_leaf


def test_a_zero_rotation_shows_only_after_redrawing() -> None:
    """The reason for it all: under default initialisation the logits hardly depend on attention."""
    from transformers import LlamaConfig, LlamaForCausalLM

    sizes = {"hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 96}
    torch.manual_seed(0)
    model = LlamaForCausalLM(LlamaConfig(vocab_size=50, max_position_embeddings=64, **sizes)).eval()
    ids = torch.randint(0, 50, (2, 20), generator=torch.Generator().manual_seed(1))

    def effect() -> float:
        with torch.no_grad():
            healthy = model(ids).logits
            kept = model.model.rotary_emb.inv_freq.clone()
            model.model.rotary_emb.inv_freq.zero_()
            broken = model(ids).logits
            model.model.rotary_emb.inv_freq.copy_(kept)
        return float((healthy - broken).abs().max() / healthy.abs().max())

    before = effect()
    redraw(model)
    assert before < 0.05
    assert effect() > 0.2
    assert effect() > 20 * before
