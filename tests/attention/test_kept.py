"""Gradients are those of the pass that was made, whatever happens before the backward pass; against the dense form."""

import copy
from collections.abc import Callable
from types import MethodType

import pytest
import torch
from torch import Tensor, nn
from torch.nn.utils import parametrize

from gnomon.attention import Attention, AttentionMask
from gnomon.attention.kept import copied, copyable
from gnomon.attention.paths import ATTENTION
from gnomon.encodings import FIRE, ALiBi, PositionEncoding, RandomizedPositions, T5Bias
from tests.helpers.scenes import BATCH, DIM, ENCODINGS, HEADS, LENGTH, PACKED, REAL_OF_PACKED, SCENES, layer_for
from tests.helpers.weights import normal

NAMES = ["alibi", "fire", "deberta", "shaw", "t5", "transformer_xl"]
#: layer, positions, mask -> something else in their place
Change = Callable[[Attention, Tensor, AttentionMask], object]


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gnomon.attention.blocks.rows_of_a_block", lambda call: 5)


def others(layer: nn.Module) -> dict[str, Tensor]:
    """Another tensor for each parameter, which wants a gradient of its own."""
    drawn = {name: normal(*p.shape, seed=40 + i) for i, (name, p) in enumerate(layer.named_parameters())}
    return {name: (0.3 * x).requires_grad_() for name, x in drawn.items()}


def assigned(layer: Attention, positions: Tensor, mask: AttentionMask) -> None:
    layer.load_state_dict({name: x.detach() for name, x in others(layer).items()}, assign=True, strict=False)


def moved(layer: Attention, positions: Tensor, mask: AttentionMask) -> None:
    positions.copy_(positions.flip(1))


def hidden(layer: Attention, positions: Tensor, mask: AttentionMask) -> None:
    assert mask.real is not None
    mask.real.copy_(mask.real.flip(1))


def repacked(layer: Attention, positions: Tensor, mask: AttentionMask) -> None:
    assert mask.documents is not None
    mask.documents.fill_(1)


def frozen(layer: Attention, positions: Tensor, mask: AttentionMask) -> None:
    layer.encoding.requires_grad_(False)


def redrawn(layer: Attention, positions: Tensor, mask: AttentionMask) -> None:
    assert isinstance(layer.encoding, RandomizedPositions)
    layer.encoding.redraw(5)


def nothing(layer: Attention, positions: Tensor, mask: AttentionMask) -> None:
    """The layer stays as it is."""


def slopes(
    encoding: PositionEncoding, path: str, change: Change, *, shared_rows: bool = False, masked: bool = True
) -> list[Tensor]:
    """Of the input and all weights."""
    layer = layer_for(copy.deepcopy(encoding), SCENES["plain"])
    positions = SCENES["scattered positions"].positions(1) % 64
    positions = positions[:1] if shared_rows else positions
    mask = AttentionMask.of(torch.tensor(REAL_OF_PACKED), torch.tensor(PACKED)) if masked else AttentionMask()
    x, given = normal(BATCH, LENGTH, DIM).requires_grad_(), list(layer.parameters())
    with ATTENTION.using(path):
        out = layer(x, positions, mask)
    change(layer, positions, mask)
    out.square().sum().backward()
    return [torch.zeros_like(each) if each.grad is None else each.grad for each in (x, *given)]


def require_close(got: list[Tensor], want: list[Tensor]) -> None:
    """To rounding of the largest; that of the keys' bias is 0, and the sum of numbers that are not."""
    largest = max(theirs.abs().max().item() for theirs in want)
    for ours, theirs in zip(got, want, strict=True):
        torch.testing.assert_close(ours, theirs, rtol=0, atol=1e-6 * largest)


@pytest.mark.parametrize("change", [assigned, moved, hidden, repacked], ids=lambda change: change.__name__)
@pytest.mark.parametrize("name", NAMES)
def test_what_is_put_in_place_before_the_backward_pass_is_not_read(name: str, change: Change) -> None:
    for shared_rows in (False, True):
        got = slopes(ENCODINGS[name], "blocks", change, shared_rows=shared_rows)
        require_close(got, slopes(ENCODINGS[name], "dense", nothing, shared_rows=shared_rows))


def test_positions_that_change_after_attention_in_runs_are_not_read() -> None:
    got, want = (
        slopes(ALiBi(HEADS), path, change, masked=False) for path, change in (("strided", moved), ("dense", nothing))
    )
    require_close(got, want)


def test_ids_that_are_drawn_anew_are_those_of_the_next_pass() -> None:
    encoding = RandomizedPositions(FIRE(HEADS), max_length=64, span=300)
    require_close(slopes(encoding, "blocks", redrawn), slopes(encoding, "dense", nothing))


def test_an_encoding_may_be_frozen_between_the_passes() -> None:
    require_close(slopes(FIRE(HEADS), "blocks", frozen), slopes(FIRE(HEADS), "dense", frozen))


@pytest.mark.parametrize("name", NAMES)
def test_parameters_of_functional_call_are_those_that_get_gradients(name: str) -> None:
    layer, x = layer_for(ENCODINGS[name], SCENES["plain"]), normal(BATCH, LENGTH, DIM).requires_grad_()
    at, given = SCENES["scattered positions"].positions(1) % 64, others(layer)
    found = []
    for path in ("blocks", "dense"):
        with ATTENTION.using(path):
            out = torch.func.functional_call(layer, given, (x, at))
        found.append(torch.autograd.grad(out.square().sum(), [x, *given.values()], materialize_grads=True))
    require_close(*(list(each) for each in found))


class Doubled(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return 2 * x


def parametrized(encoding: PositionEncoding) -> PositionEncoding:
    for module in list(encoding.modules()):
        for name, _ in list(module.named_parameters(recurse=False)):
            parametrize.register_parametrization(module, name, Doubled())
    return encoding


@pytest.mark.parametrize("path", ["blocks", "strided"])
@pytest.mark.parametrize("cached", [True, False])
@pytest.mark.parametrize("name", ["fire", "deberta", "shaw", "t5"])
def test_parametrized_encodings_get_gradients(name: str, cached: bool, path: str) -> None:
    if path == "strided" and name in ("fire", "deberta"):
        return
    layer = layer_for(copy.deepcopy(ENCODINGS[name]), SCENES["plain"])
    parametrized(layer.encoding)
    x, at = normal(BATCH, LENGTH, DIM).requires_grad_(), torch.arange(LENGTH)[None]
    found = []
    for way in (path, "dense"):
        layer.zero_grad()
        with ATTENTION.using(way), parametrize.cached() if cached else torch.enable_grad():
            layer(x, at).square().sum().backward()
        found.append([p.grad for p in layer.parameters() if p.grad is not None])
    require_close(*found)
    assert sum(bool(p.grad is not None and p.grad.any()) for p in layer.encoding.parameters()) > 0


def test_a_bias_that_was_put_into_the_object_is_called_with_its_gradients() -> None:
    encoding = T5Bias(HEADS)
    own = encoding.bias

    def tripled(query_positions: Tensor, key_positions: Tensor) -> Tensor:
        return 3 * own(query_positions, key_positions)

    encoding.__dict__["bias"] = tripled
    layer, x = layer_for(encoding, SCENES["plain"]), normal(BATCH, LENGTH, DIM).requires_grad_()
    found = []
    for path in ("blocks", "dense"):
        with ATTENTION.using(path):
            out = layer(x, torch.arange(LENGTH)[None])
        found.append(list(torch.autograd.grad(out.square().sum(), [x, *layer.parameters()], materialize_grads=True)))
    require_close(*found)


def test_a_copy_holds_what_is_put_and_shares_the_rest() -> None:
    encoding = FIRE(HEADS)
    seen: list[Tensor] = []

    def put(tensor: Tensor) -> Tensor:
        seen.append(tensor)
        return tensor.detach() + 1

    other = copied(encoding, put)
    assert all(a is b for a, b in zip(seen, encoding.parameters(), strict=True))
    for ours, theirs in zip(other.parameters(), encoding.parameters(), strict=True):
        assert torch.equal(ours, theirs + 1)
    assert other.options == encoding.options


def test_tensors_that_are_one_stay_one_in_a_copy() -> None:
    encoding = FIRE(HEADS)
    encoding.again = next(encoding.parameters())  # type: ignore[assignment]
    encoding.register_buffer("none", None)
    other = copied(encoding, torch.clone)
    assert any(other.again is p for p in other.parameters())


def test_modules_with_methods_of_their_own_are_not_copied() -> None:
    encoding = FIRE(HEADS)
    assert copyable(encoding)
    assert copyable(parametrized(FIRE(HEADS)))
    encoding.helper = MethodType(FIRE.bias, encoding)  # type: ignore[assignment]
    assert not copyable(encoding)
