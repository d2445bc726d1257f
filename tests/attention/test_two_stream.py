"""Two-stream attention against the paper's equations in plain floats, and what each stream may know."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import pytest
import torch
from torch import Tensor

from gnomon.attention import SegmentBias, Sight, TwoStreamAttention, TwoStreamMasks, permutation_mask
from gnomon.attention.two_stream import reference
from gnomon.encodings import ALiBi, NoPE, Rotary, T5Bias, TransformerXL
from gnomon.encodings.base import PositionEncoding
from gnomon.errors import GnomonError, PositionError, ShapeError
from tests.helpers.weights import normal, redraw

B, S, M, DIM, HEADS = 2, 5, 3, 8, 2
D = DIM // HEADS
TARGETS = torch.tensor([[0, 1, 1, 0, 1], [1, 0, 1, 0, 0]]) == 1
ORDER = torch.tensor([[0, 3, 1, 2, 4], [4, 0, 1, 2, 3]])
MAPPING = torch.zeros(B, 3, S)
for _row, _prediction, _token in ((0, 0, 4), (0, 1, 1), (0, 2, 2), (1, 0, 0), (1, 1, 2)):
    MAPPING[_row, _prediction, _token] = 1
SEGMENTS = torch.tensor([[0, 0, 1, 1, 2], [1, 1, 1, 0, 0]])
POSITIONS = torch.tensor([[10, 11, 12, 13, 14, 15, 16, 17], [5, 6, 9, 10, 12, 13, 20, 21]])
"""Memory first; the distances differ in the rows."""


def layer(encoding: PositionEncoding | None = None, **more: Any) -> TwoStreamAttention:
    encoding = encoding or TransformerXL(HEADS, D, dim=DIM, clamp_length=6)
    made = TwoStreamAttention(DIM, num_heads=HEADS, encoding=encoding, segments=SegmentBias(HEADS, D), **more)
    redraw(made, std=0.4)
    return made


def masks(**more: Any) -> TwoStreamMasks:
    return TwoStreamMasks(permutation_mask(TARGETS, order=ORDER), MAPPING, **more)


def inputs(dtype: torch.dtype = torch.float32) -> tuple[Tensor, Tensor, Tensor]:
    """Content, queries, memory."""
    return tuple(normal(B, n, DIM, seed=seed).to(dtype) for n, seed in ((S, 1), (3, 2), (M, 3)))  # type: ignore[return-value]


def linear(weight: Tensor, row: Sequence[float]) -> list[float]:
    return [sum(w * x for w, x in zip(line, row, strict=True)) for line in weight.double().tolist()]


def heads_of(row: list[float]) -> list[list[float]]:
    return [row[h * D : (h + 1) * D] for h in range(HEADS)]


def sees(row: int, i: int, j: int, *, content: bool) -> bool:
    """Section 2.2 for slot i of the segment and key j of [memory; segment], from the order alone."""
    if j < M:
        return True
    j -= M
    if not bool(TARGETS[row, j]):
        return True
    if bool(TARGETS[row, i]) and ORDER[row, j] < ORDER[row, i]:
        return True
    return content and i == j


def expected(made: TwoStreamAttention, *, content: bool) -> Tensor:
    """One stream of `layer` in plain floats; zeros where a prediction is padding."""
    vectors, queries, memory = (part.double().tolist() for part in inputs())
    encoding, kinds = made.encoding, made.segments
    assert isinstance(encoding, TransformerXL)
    assert kinds is not None
    result = []
    for b in range(B):
        told, place, kind = memory[b] + vectors[b], POSITIONS[b].tolist(), [0] * M + SEGMENTS[b].tolist()
        keys = [heads_of(linear(made.key.weight, x)) for x in told]
        values = [heads_of(linear(made.value.weight, x)) for x in told]
        rows = []
        for n, x in enumerate(vectors[b] if content else queries[b]):
            if not content and not MAPPING[b, n].any():
                rows.append([0.0] * DIM)
                continue
            i = n if content else int(MAPPING[b, n].argmax())
            asked, seen = (
                heads_of(linear(made.query.weight, x)),
                [j for j in range(M + S) if sees(b, i, j, content=content)],
            )
            mixed: list[float] = []
            for h in range(HEADS):
                distances = torch.tensor([place[M + i] - place[j] for j in range(M + S)]).clamp(-6, 6)
                other = [int(kind[M + i] != kind[j]) for j in range(M + S)]
                mixed += reference(
                    asked[h],
                    [key[h] for key in keys],
                    [value[h] for value in values],
                    relative=encoding.double().vectors(distances, dtype=torch.float64)[:, h].tolist(),
                    segments=kinds.double().vectors[other, h].tolist(),
                    biases=tuple(
                        each.double()[h].tolist()
                        for each in (encoding.content_bias_vector, encoding.position_bias_vector, kinds.query_vector)
                    ),  # type: ignore[arg-type]
                    seen=seen,
                )
            rows.append(linear(made.output.weight, mixed))
        result.append(rows)
    return torch.tensor(result, dtype=torch.float64)


@torch.no_grad()
def test_both_streams_equal_the_papers_equations() -> None:
    made = layer()
    views = masks(segments=SEGMENTS).views(B, POSITIONS, memory_length=M)
    content, query, memory = inputs()
    single = made(content, query, views, memory)
    for stream, is_content in zip(single, (True, False), strict=True):
        torch.testing.assert_close(stream.double(), expected(made, content=is_content), atol=2e-6, rtol=1e-5)
    for stream, is_content in zip(
        made.double()(*inputs(torch.float64)[:2], views, memory.double()), (True, False), strict=True
    ):
        torch.testing.assert_close(stream, expected(made, content=is_content), atol=1e-12, rtol=1e-12)


ENCODINGS = {
    "nope": NoPE(),
    "rotary": Rotary(D),
    "t5": T5Bias(HEADS),
    "alibi": ALiBi(HEADS, form="symmetric"),
    "transformer-xl": TransformerXL(HEADS, D, dim=DIM),
}


@pytest.mark.parametrize("encoding", ENCODINGS.values(), ids=ENCODINGS)
@torch.no_grad()
def test_a_query_that_holds_the_words_vector_gives_what_the_content_stream_gives(encoding: PositionEncoding) -> None:
    """Same weights, same position, same sight: with any encoding the streams differ in what they start from and see."""
    made = layer(encoding)
    content, _, memory = inputs()
    picked = torch.tensor([[3, 0], [1, 4]])
    mapping = torch.nn.functional.one_hot(picked, S)
    views = TwoStreamMasks(target_mapping=mapping, segments=SEGMENTS).views(B, POSITIONS, memory_length=M)
    out, query = made(content, content[torch.arange(B)[:, None], picked], views, memory)
    torch.testing.assert_close(query, out[torch.arange(B)[:, None], picked], atol=1e-6, rtol=1e-6)


@pytest.mark.parametrize("encoding", ENCODINGS.values(), ids=ENCODINGS)
@torch.no_grad()
def test_only_the_distances_of_positions_enter(encoding: PositionEncoding) -> None:
    """Segments too: their term is made from queries before rotation."""
    made, given = layer(encoding), inputs()
    streams = [
        made(*given[:2], masks(segments=SEGMENTS).views(B, POSITIONS + shift, memory_length=M), given[2])
        for shift in (0, 1000)
    ]
    for near, far in zip(*streams, strict=True):
        torch.testing.assert_close(near, far, atol=1e-5, rtol=1e-5)


@torch.no_grad()
def test_what_is_hidden_from_a_stream_does_not_move_it() -> None:
    made = layer()
    views = masks().views(B, POSITIONS, memory_length=M)
    content, query, memory = inputs()
    before = made(content, query, views, memory)
    for b in range(B):
        for j in range(S):
            changed = content.clone()
            changed[b, j] += 1.0
            after = made(changed, query, views, memory)
            moved = [(new - old).abs().amax(-1) > 1e-6 for new, old in zip(after, before, strict=True)]
            assert moved[0][b].tolist() == [i == j or sees(b, i, M + j, content=True) for i in range(S)]
            places = [int(row.argmax()) if row.any() else None for row in MAPPING[b]]
            assert moved[1][b].tolist() == [i is not None and sees(b, i, M + j, content=False) for i in places]
            assert not moved[0][1 - b].any()


def test_no_gradient_reaches_memory() -> None:
    made, (content, query, memory) = layer(), inputs()
    content, query, memory = (part.requires_grad_() for part in (content, query, memory))
    out, asked = made(content, query, masks().views(B, POSITIONS, memory_length=M), memory)
    (out.square().sum() + asked.square().sum()).backward()
    assert memory.grad is None
    assert content.grad is not None
    assert bool((content.grad.abs().sum(-1) > 0).all())
    assert query.grad is not None


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_half_precision_is_finite_and_close_where_keys_are_hidden(dtype: torch.dtype) -> None:
    """With queries that see nothing among them; the bounds are about four roundings of numbers up to 4."""
    everything = torch.ones(B, S, S)  # nobody sees anything, memory apart
    for hidden, length in ((permutation_mask(TARGETS, order=ORDER), M), (everything, 0), (everything, M)):
        views = TwoStreamMasks(hidden, MAPPING, segments=SEGMENTS).views(
            B, POSITIONS[:, M - length :], memory_length=length
        )
        single, half = layer(), layer().to(dtype)
        content, query, memory = inputs()
        wanted = single(content, query, views, memory if length else None)
        out = half(*(part.to(dtype) for part in (content, query)), views, memory.to(dtype) if length else None)
        for got, want in zip(out, wanted, strict=True):
            assert got.dtype == dtype
            torch.testing.assert_close(got.float(), want, atol=0.1 if dtype == torch.bfloat16 else 0.01, rtol=0.02)
        sum(part.float().square().sum() for part in out).backward()
        assert all(bool(p.grad.isfinite().all()) for p in half.parameters() if p.grad is not None)


def test_a_query_that_sees_nothing_gets_zeros_and_gives_no_nan() -> None:
    made, (content, query, _) = layer(), inputs()
    content.requires_grad_()
    views = TwoStreamMasks(torch.ones(B, S, S), MAPPING).views(B, POSITIONS[:, M:])
    out, asked = made(content, query, views)
    assert torch.equal(asked, torch.zeros_like(asked))
    torch.testing.assert_close(out, made.output(made.value(content)))  # a token that sees itself alone
    (asked.sum() + out.sum()).backward()
    assert content.grad is not None
    assert bool(content.grad.isfinite().all())


@torch.no_grad()
def test_two_predictions_for_one_token_do_not_know_of_each_other() -> None:
    made, (content, query, memory) = layer(), inputs()
    twice = MAPPING[:, [0, 0, 1]]
    views = TwoStreamMasks(permutation_mask(TARGETS, order=ORDER), twice).views(B, POSITIONS, memory_length=M)
    _, alone = made(content, query[:, [0, 0, 1]], masks().views(B, POSITIONS, memory_length=M), memory)
    _, both = made(content, query[:, [0, 0, 1]], views, memory)
    torch.testing.assert_close(both[:, :1], alone[:, :1])
    torch.testing.assert_close(both[:, 1], both[:, 0])


def test_the_two_sights_differ_by_the_token_itself() -> None:
    views = TwoStreamMasks(permutation_mask(TARGETS, order=ORDER)).views(B, POSITIONS, memory_length=M)
    opened = views.content.visible & ~views.query.visible
    itself = torch.eye(S, dtype=torch.bool) & TARGETS[:, :, None]
    assert torch.equal(opened[:, 0], torch.nn.functional.pad(itself, (M, 0)))


def test_a_causal_sight_and_a_window_hide_memory_and_later_tokens() -> None:
    views = TwoStreamMasks().views(1, torch.arange(5)[None], memory_length=2, sight=Sight(True, 3))
    assert views.content.visible[0, 0].int().tolist() == [[1, 1, 1, 0, 0], [0, 1, 1, 1, 0], [0, 0, 1, 1, 1]]
    assert views.causal


VIEWS = partial(masks().views, B, POSITIONS, memory_length=M)


@pytest.mark.usefixtures("unchecked")
def test_what_does_not_fit_is_named() -> None:
    made, (content, query, memory) = layer(), inputs()
    with pytest.raises(ShapeError, match="dim must be a multiple of num_heads"):
        TwoStreamAttention(9, num_heads=2, encoding=NoPE())
    with pytest.raises(ShapeError, match=r"views are for .* \(5, 8\), this call has \(5, 5\)"):
        made(content, query, VIEWS())
    with pytest.raises(ShapeError, match="2 queries for 3 predictions"):
        made(content, query[:, :2], VIEWS(), memory)
    with pytest.raises(PositionError, match="must be int64"):
        made(content, query, masks().views(B, POSITIONS.float(), memory_length=M), memory)
    with pytest.raises(ShapeError, match="perm_mask has shape"):
        TwoStreamMasks(torch.zeros(B, S, S + 1)).views(B, POSITIONS, memory_length=M)
    with pytest.raises(GnomonError, match="perm_mask holds other values than 0 and 1"):
        TwoStreamMasks(torch.full((B, S, S), -1e30)).views(B, POSITIONS, memory_length=M)
    with pytest.raises(GnomonError, match="more than one 1"):
        TwoStreamMasks(target_mapping=torch.ones(B, 2, S)).views(B, POSITIONS, memory_length=M)
    with pytest.raises(ShapeError, match="attention_mask have shape"):
        TwoStreamMasks(attention_mask=torch.ones(B, S + 1)).views(B, POSITIONS, memory_length=M)
    with pytest.raises(ShapeError, match="Positions have shape"):
        TwoStreamMasks().views(3, POSITIONS, memory_length=M)


def test_layers_refuse_what_they_were_not_built_for() -> None:
    content, query, memory = inputs()
    plain = TwoStreamAttention(DIM, num_heads=HEADS, encoding=NoPE())
    with pytest.raises(GnomonError, match="built without; pass segments"):
        plain(content, query, masks(segments=SEGMENTS).views(B, POSITIONS, memory_length=M), memory)
    with pytest.raises(GnomonError, match="causal mask only"):
        layer(ALiBi(HEADS, form="causal"))(content, query, VIEWS(), memory)
    dynamic = Rotary(D, frequencies={"kind": "dynamic", "factor": 2.0, "original_max_length": 4})
    with pytest.raises(GnomonError, match="does not depend on the length"):
        TwoStreamAttention(DIM, num_heads=HEADS, encoding=dynamic)
