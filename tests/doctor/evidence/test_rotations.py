"""The tracer recognises a rotation in every common spelling, and in nothing else."""

from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812 - torch's own name for it

from gnomon.doctor.evidence.rotary import distinct_rows, group_rotations, phase_error, rotary_uses
from gnomon.doctor.evidence.rotations import rotation_of_complex
from gnomon.doctor.evidence.trace import trace
from tests.helpers.healthy import FOREIGN, SIZES
from tests.helpers.spellings import BASE, FORMS, WIDTH, Rotate, Spelled, half_full
from tests.helpers.tiny_transformers import tiny_model
from tests.helpers.toys import subject_of


@pytest.mark.parametrize("rotated", [WIDTH, 4])
@pytest.mark.parametrize("order", ["BHSD", "BSHD", "SBHD"])
@pytest.mark.parametrize(("layout", "rotate"), FORMS, ids=[rotate.__name__ for _, rotate in FORMS])
def test_every_spelling_is_read_with_its_pairs_direction_and_frequencies(
    layout: str, rotate: Rotate, order: str, rotated: int
) -> None:
    subject = subject_of(Spelled(rotate, order=order, rotated=rotated))
    assert len(trace(subject).rotations) == 4  # queries and keys of two layers
    [use] = rotary_uses(subject)
    first = use.first
    assert (first.layout, first.direction, first.rotary_dim, first.axis) == (layout, 1, rotated, "sequence")
    assert first.table_layout == layout
    assert use.shift == 0
    expected = [BASE ** (-2 * i / rotated) for i in range(rotated // 2)]
    np.testing.assert_allclose(use.frequencies, expected, rtol=1e-4)
    assert first.factor == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize(("layout", "rotate"), FORMS, ids=[rotate.__name__ for _, rotate in FORMS])
def test_every_spelling_run_backwards_is_told(layout: str, rotate: Rotate) -> None:
    [use] = rotary_uses(subject_of(Spelled(lambda x, angles: rotate(x, -angles))))
    assert use.first.layout == layout
    # A backward turn is either told as such, or read as negative frequencies: the product is what counts.
    np.testing.assert_allclose(use.frequencies, [-(BASE ** (-2 * i / WIDTH)) for i in range(4)], rtol=1e-4)


@pytest.mark.parametrize("minus", ["x cos - turned(x) sin", "a cos + b sin"])
def test_a_minus_in_place_of_a_plus_is_direction_minus_one(minus: str) -> None:
    def full(x: Tensor, angles: Tensor) -> Tensor:
        wide, (a, b) = torch.cat((angles, angles), -1), x.chunk(2, -1)
        return x * wide.cos() - torch.cat((-b, a), -1) * wide.sin()

    def halves(x: Tensor, angles: Tensor) -> Tensor:
        cos, sin, (a, b) = angles.cos(), angles.sin(), x.chunk(2, -1)
        return torch.cat((a * cos + b * sin, b * cos - a * sin), -1)

    [use] = rotary_uses(subject_of(Spelled(full if minus.startswith("x") else halves)))
    assert use.first.direction == -1


@pytest.mark.parametrize(
    ("family", "layout", "rotated", "base"),
    [
        ("llama", "half", 8, 1e4),
        ("gpt_neox", "half", 4, 1e4),
        ("gptj", "interleaved", 6, 1e4),
        ("cohere", "interleaved", 8, 5e5),
        ("modernbert", "half", 8, None),
    ],
)
def test_transformers_families_are_read(family: str, layout: str, rotated: int, base: float | None) -> None:
    uses = rotary_uses(subject_of(tiny_model(family)))
    for use in uses:
        assert (use.first.layout, use.first.direction, use.first.rotary_dim) == (layout, 1, rotated)
        if base:
            expected = [base ** (-2 * i / rotated) for i in range(rotated // 2)]
            np.testing.assert_allclose(use.frequencies, expected, rtol=1e-4)
    assert sum(use.layers for use in uses) >= 2


def test_llama_4_s_complex_rotation_is_read() -> None:
    import transformers

    sizes = {**SIZES, "head_dim": 8, "num_key_value_heads": 2, "num_local_experts": 2, "intermediate_size_mlp": 32}
    torch.manual_seed(0)
    model = transformers.Llama4ForCausalLM(transformers.Llama4TextConfig(**sizes)).eval()
    [use] = rotary_uses(subject_of(model))
    assert (use.first.layout, use.first.direction, use.first.rotary_dim) == ("interleaved", 1, 8)
    np.testing.assert_allclose(use.frequencies, [5e5 ** (-i / 4) for i in range(4)], rtol=1e-4)


def test_deepseek_v3_s_rotation_of_a_part_kept_apart_is_read() -> None:
    import transformers

    ranks = {"q_lora_rank": 8, "kv_lora_rank": 8, "qk_rope_head_dim": 8, "qk_nope_head_dim": 8, "v_head_dim": 8}
    experts = {"n_routed_experts": 4, "n_group": 1, "topk_group": 1, "num_experts_per_tok": 2}
    more = {"first_k_dense_replace": 1, "moe_intermediate_size": 16, "num_key_value_heads": 4}
    torch.manual_seed(0)
    config = transformers.DeepseekV3Config(**SIZES, **ranks, **experts, **more)
    uses = rotary_uses(subject_of(transformers.DeepseekV3ForCausalLM(config).eval()))
    for use in uses:
        assert (use.first.direction, use.first.rotary_dim) == (1, 8)
        np.testing.assert_allclose(use.frequencies, [1e4 ** (-i / 4) for i in range(4)], rtol=1e-4)


class Gated(nn.Module):
    """Products and sums that are no rotation: a gated feed-forward part, a highway, a LayerNorm written out."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.words, self.gate, self.up = nn.Embedding(40, 8), nn.Linear(8, 8), nn.Linear(8, 8)
        self.weight, self.offset = nn.Parameter(torch.ones(8)), nn.Parameter(torch.zeros(8))

    def forward(self, tokens: Tensor) -> Tensor:
        x = self.words(tokens)
        x = F.silu(self.gate(x)) * self.up(x) + x * torch.sigmoid(self.gate(x))
        share = torch.sigmoid(self.gate(x))
        x = share * x + (1 - share) * self.up(x)
        a, b = x.chunk(2, -1)
        x = torch.cat((a * a - b * b, a * b + b * a), -1)
        centred = x - x.mean(-1, keepdim=True)
        normed: Tensor = centred * (centred.square().mean(-1, keepdim=True) + 1e-5).rsqrt() * self.weight + self.offset
        return normed


@pytest.mark.parametrize("name", ["gpt-2", "bert", "bloom", "mpt", "opt"])
def test_families_without_a_rotation_show_none(name: str) -> None:
    assert trace(subject_of(FOREIGN[name]())).rotations == []


def test_gates_highways_and_norms_are_no_rotation() -> None:
    assert trace(subject_of(Gated())).rotations == []


def test_tables_that_leave_the_circle_are_no_rotation() -> None:
    def stretched(x: Tensor, angles: Tensor) -> Tensor:
        wide, (a, b) = torch.cat((angles, angles), -1), x.chunk(2, -1)
        return x * wide.cos() + torch.cat((-b, a), -1) * (2 * wide.sin())

    assert trace(subject_of(Spelled(stretched))).rotations == []


def test_a_complex_product_without_complex_numbers_is_none() -> None:
    x = torch.randn(2, 3, 5, 4)
    assert rotation_of_complex(x, x, 5, "here", "interleaved") is None


def test_phase_error_compares_with_the_nearest_use_and_wraps() -> None:
    rotations = trace(subject_of(Spelled(half_full))).rotations
    uses = group_rotations(rotations)
    assert phase_error(rotations[0], uses, torch.arange(29)) == pytest.approx(0, abs=1e-4)
    assert phase_error(rotations[0], uses, torch.arange(29) + 2) == pytest.approx(2, abs=1e-4)
    assert phase_error(rotations[0], (), torch.arange(29)) is None


def test_distinct_rows_counts_different_rows() -> None:
    assert distinct_rows(torch.tensor([[0.0, 1.0], [0.0, 1.0], [1.0, 0.0]])) == 2


def test_uses_of_queries_and_keys_that_start_apart_are_kept_apart() -> None:
    calls: list[Any] = []

    def alternating(x: Tensor, angles: Tensor) -> Tensor:
        calls.append(None)
        return half_full(x, angles + (len(calls) % 2) * angles[:, :, 1:2])

    uses = rotary_uses(subject_of(Spelled(alternating)))
    assert sorted(use.shift for use in uses) == [0, 1]
