"""The blocks of two-stream attention: each way through them against all logits at once, made from the hooks."""

import pytest
import torch
from torch import Tensor

from gnomon.attention import SegmentBias, stream_attention
from gnomon.attention.stream_attention import Stream, attend
from gnomon.encodings import NoPE, Shaw, T5Bias, TransformerXL
from gnomon.encodings.base import PositionEncoding
from gnomon.errors import GnomonError
from gnomon.kernels.relative_shift import shifted_attention
from tests.helpers.peaks import peak_growth
from tests.helpers.weights import normal, redraw

B, H, D, N, K, MEMORY = 4, 2, 4, 8, 11, 3
SCALE = D**-0.5
UP = torch.arange(K)[None] + 5
GAPS = torch.tensor([[0, 1, 2, 4, 5, 6, 9, 10, 11, 12, 13]])
#: Positions of the keys, and whether each row counts up or down by one
KEYS = {
    "one for all": (UP, [True] * B),
    "rows with their own starts": (UP + torch.tensor([[0], [90], [3], [40]]), [True] * B),
    "mirrored": (torch.cat((UP, UP, -UP, -UP)), [True] * B),
    "gaps": (GAPS, [False] * B),
    "every kind": (torch.cat((UP, GAPS, -UP, UP + 20)), [True, False, True, True]),
    "by twos": (2 * UP, [False] * B),
    "all alike": (torch.zeros_like(UP), [False] * B),
}


def stream(positions: Tensor, *, targets: Tensor | None = None) -> Stream:
    """Queries for the last N slots, or for the targets among these; in float64, with keys hidden."""
    slots = torch.arange(MEMORY, K).expand(B, N) if targets is None else targets
    at = positions[:, MEMORY:] if targets is None else positions.expand(B, K).gather(1, slots)
    q, k, v = (normal(B, H, n, D, seed=seed).double() for n, seed in ((slots.shape[1], 1), (K, 2), (K, 3)))
    visible = normal(B, 1, slots.shape[1], K, seed=4) > -0.5
    visible[1, 0, 2] = False
    return Stream(q.requires_grad_(), k.requires_grad_(), v.requires_grad_(), at, positions, visible)


def with_segments(given: Stream, kinds: SegmentBias) -> Stream:
    ids = torch.arange(K)[None] // 4 + torch.tensor([[0], [1], [0], [2]])
    scores = kinds.scores(given.q, ids[:, K - given.q.shape[2] :], ids)
    return Stream(given.q, given.k, given.v, given.positions, given.key_positions, given.visible, scores)


def all_at_once(encoding: PositionEncoding, given: Stream) -> Tensor:
    at, keys = given.positions.expand(B, -1), given.key_positions.expand(B, -1)
    logits = SCALE * given.q @ given.k.mT
    for bias in (encoding.bias(at, keys), encoding.content_bias(given.q, given.k, at, keys)):
        logits = logits if bias is None else logits + bias
    if given.segments is not None:
        differs = given.segments.query_segments[:, None, :, None] != given.segments.key_segments[:, None, None]
        logits = logits + torch.where(differs, given.segments.other[..., None], given.segments.same[..., None])
    weights: Tensor = logits.masked_fill(~given.visible, -torch.inf).softmax(-1)
    return weights.masked_fill(~given.visible, 0.0) @ given.v


def in_blocks(encoding: PositionEncoding, given: Stream) -> Tensor:
    return attend(encoding, given, scale=SCALE)


def slopes(out: Tensor, given: Stream, *modules: torch.nn.Module) -> list[Tensor]:
    inputs = [given.q, given.k, given.v, *(p for module in modules for p in module.parameters())]
    return list(torch.autograd.grad((out * normal(*out.shape, seed=9).double()).sum(), inputs))


def drawn(encoding: PositionEncoding) -> PositionEncoding:
    redraw(encoding, std=0.5)
    return encoding.double()


@pytest.fixture
def shifts(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Blocks of three queries; how many rows each call of the relative shift took."""
    calls: list[int] = []

    def counted(q: Tensor, *rest: object, **more: object) -> Tensor:
        calls.append(len(q))
        return shifted_attention(q, *rest, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(stream_attention, "shifted_attention", counted)
    monkeypatch.setattr(stream_attention, "BLOCK", 3)
    return calls


@pytest.mark.parametrize(("positions", "counts"), KEYS.values(), ids=KEYS)
def test_rows_that_count_take_the_shift_and_all_rows_are_right(
    shifts: list[int], positions: Tensor, counts: list[bool]
) -> None:
    encoding, kinds = drawn(TransformerXL(H, D, dim=6, clamp_length=7)), SegmentBias(H, D).double()
    redraw(kinds)
    given = stream(positions)
    got, want = (way(encoding, with_segments(given, kinds)) for way in (in_blocks, all_at_once))
    assert sum(shifts) == sum(counts)
    assert not got[1, :, 2].any()
    torch.testing.assert_close(got, want, atol=1e-10, rtol=1e-10)
    ours, theirs = (slopes(out, given, encoding, kinds) for out in (got, want))
    torch.testing.assert_close(ours, theirs, atol=1e-10, rtol=1e-10)


@pytest.mark.parametrize(
    ("targets", "rows"), [([[4, 5, 6, 7]] * B, 4), ([[4, 5, 6, 7], [9, 8, 7, 6], [3, 5, 7, 9], [0, 1, 2, 3]], 2)]
)
def test_queries_of_targets_take_the_shift_where_these_follow_one_another(
    shifts: list[int], targets: list[list[int]], rows: int
) -> None:
    encoding, given = drawn(Shaw(H, D, max_distance=(3, 2))), stream(UP, targets=torch.tensor(targets))
    got, want = in_blocks(encoding, given), all_at_once(encoding, given)
    assert sum(shifts) == rows
    torch.testing.assert_close(got, want, atol=1e-10, rtol=1e-10)
    torch.testing.assert_close(slopes(got, given, encoding), slopes(want, given, encoding), atol=1e-10, rtol=1e-10)


@pytest.mark.parametrize("encoding", [T5Bias(H), NoPE()], ids=["t5", "nope"])
def test_other_encodings_go_through_in_blocks(shifts: list[int], encoding: PositionEncoding) -> None:
    drawn(encoding)
    given = stream(UP)
    got, want = in_blocks(encoding, given), all_at_once(encoding, given)
    assert not shifts
    torch.testing.assert_close(got, want, atol=1e-6, rtol=1e-6)  # a bias is float32
    torch.testing.assert_close(slopes(got, given, encoding), slopes(want, given, encoding), atol=1e-5, rtol=1e-5)
    with torch.no_grad():
        torch.testing.assert_close(in_blocks(encoding, given), want, atol=1e-6, rtol=1e-6)


def kept_slopes(encoding: PositionEncoding, given: Stream, change: str, parameters: dict[str, Tensor]) -> list[Tensor]:
    out = called(encoding, given, parameters)
    if change == "positions":
        given.key_positions.copy_(given.key_positions.flip(1))
        given.positions.copy_(given.positions.flip(1))
    if change == "segments":
        assert given.segments is not None
        given.segments.key_segments.fill_(0)
    if change == "visible":
        given.visible.logical_not_()
    inputs = [given.q, given.k, given.v, *parameters.values()]
    return list(torch.autograd.grad((out * normal(*out.shape, seed=9).double()).sum(), inputs))


def called(encoding: PositionEncoding, given: Stream, parameters: dict[str, Tensor]) -> Tensor:
    class Layer(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.encoding = encoding

        def forward(self) -> Tensor:
            return in_blocks(self.encoding, given)

    swapped = {f"encoding.{name}": x for name, x in parameters.items()}
    out: Tensor = torch.func.functional_call(Layer(), swapped, ())
    return out


@pytest.mark.usefixtures("shifts")
@pytest.mark.parametrize("positions", [UP, GAPS.repeat(B, 1)], ids=["shift", "blocks"])
@pytest.mark.parametrize("encoding", [Shaw(H, D, max_distance=5), T5Bias(H)], ids=["shaw", "t5"])
def test_gradients_are_those_of_the_pass_that_was_made(encoding: PositionEncoding, positions: Tensor) -> None:
    """Parameters of torch.func.functional_call; positions and segments that change before the backward pass."""
    drawn(encoding)
    parameters = {name: normal(*p.shape, seed=30).double().requires_grad_() for name, p in encoding.named_parameters()}
    kinds = SegmentBias(H, D).double()
    given = [with_segments(stream(positions.clone()), kinds) for _ in range(3)]
    want, *got = (
        kept_slopes(encoding, each, change, parameters)
        for each, change in zip(given, ("nothing", "positions", "segments"), strict=True)
    )
    for each in got:
        torch.testing.assert_close(each, want, atol=1e-10, rtol=1e-10)
    with pytest.raises(GnomonError, match=r"shape \(4, 1, 8, 11\) that attention read was changed in place"):
        kept_slopes(encoding, given[0], "visible", parameters)


LINEAR = """
import torch
from gnomon.attention import SegmentBias, TwoStreamAttention, TwoStreamMasks
from gnomon.encodings import TransformerXL
def setup(length):
    layer = TwoStreamAttention(32, num_heads=8, encoding=TransformerXL(8, 4, dim=32), segments=SegmentBias(8, 4))
    every_fourth = torch.eye(length)[None, ::4]
    every = torch.arange(length)[None]
    masks = TwoStreamMasks(target_mapping=every_fourth, segments=every // 50)
    content, query = (torch.randn(1, n, 32) for n in (length, every_fourth.shape[1]))
    return layer, content, query, masks.views(1, every)
def run(given):
    layer, *inputs = given
    sum(out.sum() for out in layer(*inputs)).backward()
def warm_up(given):
    run(setup(8))
"""


def test_memory_grows_with_the_length_and_not_with_its_square() -> None:
    """The masks of who sees whom are made before, and stay: a byte for each pair. Targets are scattered."""
    short, long = (peak_growth(LINEAR, length=length) for length in (1024, 3072))  # both in several blocks
    assert long < 3.2 * short  # measured 1.9; floats for all pairs would be 300 MB more
