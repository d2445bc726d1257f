"""Positional sensitivity and semantic stability against heads whose answer is known."""

import math

import pytest
import torch
from torch import Tensor

from gnomon.doctor.evidence.record import Trace
from gnomon.doctor.monitor.heads import RotationWatcher, frequencies_of, heads, shares_of_variance

LENGTH, PAIRS = 48, 4
FREQUENCIES = torch.tensor([1.0, 0.3, 0.1, 0.03])


def complex_noise(seed: int) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.complex(*(torch.randn(1, LENGTH, PAIRS, generator=generator) for _ in range(2)))


def test_a_head_whose_tokens_are_all_alike_follows_distance_alone() -> None:
    constant = torch.ones(1, LENGTH, PAIRS, dtype=torch.complex64)
    positional, semantic = shares_of_variance(constant, constant, FREQUENCIES)
    assert float(positional) == pytest.approx(1.0, abs=1e-6)
    assert float(semantic) == pytest.approx(0.0, abs=1e-6)


def test_a_head_that_does_not_turn_follows_tokens_alone() -> None:
    positional, semantic = shares_of_variance(complex_noise(0), complex_noise(1), torch.zeros(PAIRS))
    assert float(positional) == pytest.approx(0.0, abs=1e-6)
    assert float(semantic) == pytest.approx(1.0, abs=1e-6)


def test_the_shares_are_those_of_an_analysis_of_variance() -> None:
    """Plain sums over every pair and distance, of scores rotated one position at a time."""
    queries, keys = complex_noise(0) + 0.7, complex_noise(1) + 0.7
    positional, semantic = shares_of_variance(queries, keys, FREQUENCIES)
    places = [round(i * (LENGTH - 1) / 23) for i in range(24)]
    grid = [round(i * (LENGTH - 1) / 31) for i in range(32)]
    table = [
        [
            sum(
                (complex(queries[0, i, p]) * complex(keys[0, j, p]).conjugate() * _turn(float(FREQUENCIES[p]) * t)).real
                for p in range(PAIRS)
            )
            for t in grid
        ]
        for i in places
        for j in places
    ]
    scores = torch.tensor(table, dtype=torch.float64)
    total = float(scores.var(correction=0))
    assert float(positional) == pytest.approx(float(scores.mean(0).var(correction=0)) / total, rel=1e-3)
    assert float(semantic) == pytest.approx(float(scores.mean(1).var(correction=0)) / total, rel=1e-3)


def _turn(angle: float) -> complex:
    return complex(math.cos(angle), math.sin(angle))


def rotated(form: str, x: Tensor, angles: Tensor) -> Tensor:
    """(B, H, S, 2P) real vectors turned by (S, P) angles, written as the three common codes write it."""
    cos, sin = angles.cos(), angles.sin()
    if form == "full":
        a, b = x.chunk(2, dim=-1)
        return x * torch.cat((cos, cos), -1) + torch.cat((-b, a), -1) * torch.cat((sin, sin), -1)
    if form == "complex":
        pairs = torch.view_as_complex(x.unflatten(-1, (-1, 2)).contiguous())
        return torch.view_as_real(pairs * torch.polar(torch.ones_like(angles), angles)).flatten(-2)
    a, b = x[..., :PAIRS], x[..., PAIRS:]
    return torch.cat((a * cos - b * sin, b * cos + a * sin), -1)


@pytest.mark.parametrize("form", ["full", "complex", "halves"])
def test_vectors_are_read_before_rotation_however_it_is_written(form: str) -> None:
    generator = torch.Generator().manual_seed(3)
    queries, keys = (torch.randn(2, 3, LENGTH, 2 * PAIRS, generator=generator) for _ in range(2))
    angles = torch.arange(LENGTH)[:, None] * FREQUENCIES
    with RotationWatcher(Trace(2, LENGTH), ["attention"]) as watcher:
        for x in (queries, keys):
            rotated(form, x, angles)
    [found] = heads(watcher.rotated)
    found_frequencies = frequencies_of(watcher.rotated[0][0])
    assert found_frequencies is not None
    torch.testing.assert_close(found_frequencies.float(), FREQUENCIES, atol=1e-4, rtol=1e-3)
    vectors = (
        [torch.view_as_complex(x[0].unflatten(-1, (-1, 2)).contiguous()) for x in (queries, keys)]
        if form == "complex"
        else [torch.complex(*(part.contiguous() for part in x[0].chunk(2, dim=-1))) for x in (queries, keys)]
    )
    for (_, got), expected in zip(watcher.rotated, vectors, strict=True):
        torch.testing.assert_close(got, expected, atol=1e-4, rtol=1e-4)
    positional, semantic = shares_of_variance(vectors[0], vectors[1], FREQUENCIES)
    assert found.where == "attention"
    assert found.positional_sensitivity == pytest.approx(positional.tolist(), rel=1e-2)
    assert found.semantic_stability == pytest.approx(semantic.tolist(), rel=1e-2)


def test_angles_that_do_not_grow_evenly_are_not_judged() -> None:
    x = torch.randn(1, 1, LENGTH, 2 * PAIRS, generator=torch.Generator().manual_seed(3))
    uneven = torch.rand(LENGTH, PAIRS, generator=torch.Generator().manual_seed(4)) * 3
    with RotationWatcher(Trace(1, LENGTH), ["attention"]) as watcher:
        rotated("full", x, uneven)
        rotated("full", x, uneven)
    assert heads(watcher.rotated) == ()
