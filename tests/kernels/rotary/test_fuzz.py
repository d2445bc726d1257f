"""Any shape, strides, dtype, positions, layout and way of writing, on every path, against the plain formula."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from gnomon.errors import GnomonError
from gnomon.kernels.rotary import apply_rotary
from gnomon.kernels.rotation import LAYOUTS, Layout, rotate
from tests.helpers.rotation_paths import preferring, runnable

#: Half of the distance between neighbouring numbers, relative to them: what one rounding may cost.
ROUNDING = {torch.float64: 2.0**-53, torch.float32: 2.0**-24, torch.float16: 2.0**-11, torch.bfloat16: 2.0**-8}
STRIDES = ("whole", "transposed", "sliced", "rows", "steps", "columns", "expanded")
TABLE = 40


@dataclass(frozen=True)
class Drawn:
    """One call: the tensors with the strides that they came with, and the rows of cos and sin by token."""

    q: Tensor
    k: Tensor | None
    angles: dict[str, Any]
    rows: tuple[Tensor, Tensor]
    layout: Layout
    sequence_dim: int
    way: str

    def by_heads(self, x: Tensor) -> Tensor:
        return x if self.sequence_dim == -2 else x.transpose(1, 2)


@st.composite
def calls(draw: st.DrawFn, dtypes: tuple[torch.dtype, ...] = (torch.float32, *ROUNDING)) -> Drawn:
    size = st.integers(1, 4)
    batch, heads, groups, length, pairs = (draw(size) for _ in range(5))
    width = 2 * pairs + draw(st.sampled_from((0, 0, 1, 2, 2, 3)))
    dtype, sequence_dim = draw(st.sampled_from(dtypes)), draw(st.sampled_from((-2, 1)))
    generator = torch.Generator().manual_seed(draw(st.integers(0, 2**16)))

    def vectors(heads: int) -> Tensor:
        shape = (batch, heads, length, width) if sequence_dim == -2 else (batch, length, heads, width)
        return with_strides(shape, draw(st.sampled_from(STRIDES)), dtype, generator)

    q, k = vectors(heads), vectors(groups) if draw(st.booleans()) else None
    angles, rows = draw_angles(draw, (batch, length, pairs), dtype, generator)
    way = draw(st.sampled_from(("fresh", "fresh", "out", "inplace")))
    return Drawn(q, k, angles, rows, draw(st.sampled_from(LAYOUTS)), sequence_dim, way)


def with_strides(shape: tuple[int, ...], how: str, dtype: torch.dtype, generator: torch.Generator) -> Tensor:
    a, b, c, d = shape

    def random(*shape: int) -> Tensor:
        return torch.randn(shape, generator=generator, dtype=torch.float64).to(dtype)

    match how:
        case "transposed":
            return random(c, a, b, d).permute(1, 2, 0, 3)
        case "sliced":
            return random(a, b + 1, c + 3, d + 1)[:, 1:, 2:-1, 1:]
        case "rows":
            return random(a, b, 2 * c, d)[:, :, ::2]
        case "steps":
            return random(a, b, c, 2 * d)[..., 1::2]
        case "columns":
            return random(a, b, d, c).mT
        case "expanded":
            return random(a, 1, c, d).expand(shape)
        case _:
            return random(*shape)


def draw_angles(
    draw: st.DrawFn, shape: tuple[int, int, int], dtype: torch.dtype, generator: torch.Generator
) -> tuple[dict[str, Any], tuple[Tensor, Tensor]]:
    batch, length, pairs = shape
    wide = torch.float64 if dtype == torch.float64 else torch.float32
    form = draw(st.sampled_from(("(S, P)", "(1, S, P)", "(B, S, P)", "(S)", "(1, S)", "(B, S)", "expanded", "steps")))
    lead = {"(S, P)": (length,), "(1, S, P)": (1, length), "(B, S, P)": (batch, length)}.get(form, (TABLE,))
    turned = torch.rand(*lead, pairs, generator=generator, dtype=torch.float64) * 7
    cos, sin = turned.cos().to(wide), turned.sin().to(wide)
    if "P" in form:
        return {"cos": cos, "sin": sin}, (cos.expand(batch, length, pairs), sin.expand(batch, length, pairs))
    offset = draw(st.integers(0, TABLE - 1))
    positions = (torch.randint(TABLE, (batch, 2 * length), generator=generator) + offset) % TABLE
    positions = {
        "(S)": positions[0, :length],
        "(1, S)": positions[:1, :length],
        "(B, S)": positions[:, :length].contiguous(),
        "expanded": positions[0, :length].expand(batch, -1),
        "steps": positions[:, ::2],
    }[form]
    index = positions.expand(batch, length)
    return {"cos": cos, "sin": sin, "positions": positions}, (cos[index], sin[index])


def formula(x: Tensor, cos: Tensor, sin: Tensor, layout: Layout) -> Tensor:
    """(B, H, S, D) and (B, S, P): column by column, in float64."""
    pairs = cos.shape[-1]
    before, turned = x.double().numpy(), x.double().numpy().copy()
    for i in range(pairs):
        a, b = (i, i + pairs) if layout == "half" else (2 * i, 2 * i + 1)
        c, s = (table.double().numpy()[:, None, :, i] for table in (cos, sin))
        turned[..., a] = before[..., a] * c - before[..., b] * s
        turned[..., b] = before[..., a] * s + before[..., b] * c
    return torch.from_numpy(np.ascontiguousarray(turned))


def assert_right(got: Tensor, x: Tensor, drawn: Drawn) -> None:
    want = drawn.by_heads(formula(drawn.by_heads(x), *drawn.rows, drawn.layout))
    assert (got.shape, got.dtype) == (x.shape, x.dtype)
    arithmetic = 4 * ROUNDING[torch.promote_types(x.dtype, torch.float32)] * x.double().abs().max()
    allowed = arithmetic + 1.001 * ROUNDING[x.dtype] * want.abs() + (1e-7 if x.dtype == torch.float16 else 0)
    assert ((got.double() - want).abs() <= allowed).all()


def overlaps_itself(x: Tensor) -> bool:
    return any(stride == 0 and size > 1 for stride, size in zip(x.stride(), x.shape, strict=True))


def turned(drawn: Drawn, **writing: Any) -> tuple[Tensor, ...]:
    result = apply_rotary(
        drawn.q, drawn.k, **drawn.angles, layout=drawn.layout, sequence_dim=drawn.sequence_dim, **writing
    )
    return (result,) if isinstance(result, Tensor) else result


@pytest.mark.parametrize("path", [None, *runnable()])
@given(drawn=calls())
@settings(max_examples=120)
def test_every_call_is_the_plain_formula(path: str | None, drawn: Drawn) -> None:
    given = (drawn.q,) if drawn.k is None else (drawn.q, drawn.k)
    before = tuple(x.clone() for x in given)
    with preferring(path):
        if drawn.way == "inplace" and any(overlaps_itself(x) for x in given):
            with pytest.raises(GnomonError, match="overlaps itself"):
                turned(drawn, inplace=True)
            assert all(torch.equal(x, old) for x, old in zip(given, before, strict=True))
            return
        out = tuple(with_strides(tuple(x.shape), "sliced", x.dtype, torch.Generator()) for x in given)
        writing: dict[str, Any] = {"inplace": drawn.way == "inplace", "out": None}
        if drawn.way == "out":
            writing["out"] = out[0] if drawn.k is None else out
        results = turned(drawn, **writing)
    for result, x, old, place in zip(results, given, before, out, strict=True):
        assert_right(result, old, drawn)
        assert result is {"inplace": x, "out": place, "fresh": result}[drawn.way]
        assert drawn.way == "inplace" or torch.equal(x, old)


@pytest.mark.parametrize("path", [None, *runnable()])
@given(drawn=calls((torch.float32, torch.bfloat16, torch.float16)))
@settings(max_examples=40)
def test_every_gradient_is_that_of_the_eager_form_in_float64(path: str | None, drawn: Drawn) -> None:
    with preferring(path):
        leaf = drawn.q.detach().requires_grad_()
        y = apply_rotary(leaf, **drawn.angles, layout=drawn.layout, sequence_dim=drawn.sequence_dim)
        assert isinstance(y, Tensor)
        weight = torch.rand(y.shape, generator=torch.Generator().manual_seed(1)).to(y.dtype)
        [got] = torch.autograd.grad(y, leaf, weight)
    exact = drawn.q.detach().double().requires_grad_()
    cos, sin = (row.double().unsqueeze(1) for row in drawn.rows)
    z = drawn.by_heads(rotate(drawn.by_heads(exact), cos, sin, layout=drawn.layout))
    [want] = torch.autograd.grad(z, exact, weight.double())
    assert got.dtype == leaf.dtype
    # The eager form rounds each product of its gradient: up to three roundings of numbers below 1.5.
    assert ((got.double() - want).abs() <= 3 * ROUNDING[leaf.dtype] * 1.5).all()
