"""Rotary models of transformers, turned by `apply_rotary` and by tables of gnomon: faster, and rounded once.

A model of transformers asks one module, `rotary_emb`, for cosines and sines, and each layer hands them, with queries
and keys, to a function of the model's file, `apply_rotary_pos_emb`. Both are replaced here, and the weights are left
alone.
"""

import inspect
import sys
from collections.abc import Callable, Iterator
from types import ModuleType, TracebackType
from typing import Any, Self, final

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from gnomon.encodings import Rotary, from_hf_config
from gnomon.errors import GnomonError
from gnomon.kernels.rotary import apply_rotary
from gnomon.kernels.rotation import Layout, join_pairs, split_pairs

FUNCTION = "apply_rotary_pos_emb"
#: What the two rotations of float32 heads may differ by at the first positions; the angles of transformers are float32.
SAME = 1e-4


def fast_rotary(model: nn.Module) -> "FastRotary":
    """Let a transformers model turn its queries and keys by `gnomon.apply_rotary`; undone by `remove()`.

    For every model whose layers share one `rotary_emb` and call `apply_rotary_pos_emb` (the Llama, Qwen, Mistral, GLM,
    Cohere and GPT-NeoX families, among others). Before anything is replaced, both rotations are run side by side on
    random heads. Tables are float32 in half precision too, and the result is rounded once, where transformers rounds
    the table, two products and their sum. Models of the same family that were not passed keep their own tables, and
    call the faster function while the result is in use.

    Raises GnomonError for a model that rotates otherwise, whose layers differ, or whose frequencies depend on the
    length; nothing is changed then. Call it before `torch.compile`.
    """
    owner, name, theirs = _rotary_module(model)
    encoding = from_hf_config(model.config)
    if not isinstance(encoding, Rotary) or encoding.length_dependent:
        raise GnomonError(
            f"The layers of a fast model share one rotary encoding that does not depend on the length; the config of "
            f"{type(model).__name__} gives {encoding}."
        )
    file = sys.modules[type(theirs).__module__]
    function = getattr(file, FUNCTION, None)
    if function is None:
        raise GnomonError(f"{type(model).__name__} has no function {FUNCTION} to replace; it rotates in its own way.")
    ours = Rotation(encoding, file.__name__)
    fast = function if isinstance(function, Turning) else Turning(function, encoding.layout)
    _require_equal(theirs, function, ours, fast)
    return FastRotary((owner, name, theirs, ours), (file, fast))


@final
class Rotation(nn.Module):
    """What transformers asks of `rotary_emb`: cosines and sines of the positions, each number for both of its pair."""

    def __init__(self, encoding: Rotary, file: str) -> None:
        super().__init__()
        self.encoding = encoding
        self.file = file  #: the module with the function that turns by what this gives

    def forward(
        self, x: Float[Tensor, "B S W"], position_ids: Int[Tensor, "#B S"]
    ) -> tuple[Float[Tensor, "#B S D"], Float[Tensor, "#B S D"]]:
        """(B, S, W), (B, S) int64 -> two of (B, S, rotary_dim), float32 whatever the dtype of x is."""
        cos, sin = (join_pairs(turn, turn, layout=self.encoding.layout) for turn in self.encoding.cos_sin(position_ids))
        if isinstance(getattr(sys.modules.get(self.file), FUNCTION, None), Turning):
            return cos, sin
        return cos.to(x.dtype), sin.to(x.dtype)  # a copy that outlived `remove()`: transformers turns in this dtype


@final
class Turning:
    """Called as `apply_rotary_pos_emb` is, and equal to it: the same numbers with fewer passes and roundings."""

    def __init__(self, original: Callable[..., tuple[Tensor, Tensor]], layout: Layout) -> None:
        self.original = original
        self.layout: Layout = layout
        self.users = 0

    def __call__(
        self,
        q: Float[Tensor, "..."],
        k: Float[Tensor, "..."],
        cos: Float[Tensor, "B S D"],
        sin: Float[Tensor, "B S D"],
        unsqueeze_dim: int = 1,
    ) -> tuple[Float[Tensor, "..."], Float[Tensor, "..."]]:
        """Heads first with unsqueeze_dim 1, (B, H, S, D), and tokens first with 2, (B, S, H, D)."""
        turns = (split_pairs(part.float(), layout=self.layout)[0].contiguous() for part in (cos, sin))
        cosines, sines = turns
        dim = -2 if unsqueeze_dim == 1 else 1
        turned = apply_rotary(q, k, cos=cosines, sin=sines, layout=self.layout, sequence_dim=dim)
        return turned[0], turned[1]


@final
class FastRotary:
    """What `fast_rotary` replaced; `remove()`, or leaving a `with` block, puts it back."""

    def __init__(
        self, module: tuple[nn.Module, str, nn.Module, Rotation], function: tuple[ModuleType, Turning]
    ) -> None:
        self._module, self._function, self._active = module, function, True
        owner, name, _, ours = module
        file, fast = function
        setattr(owner, name, ours)
        setattr(file, FUNCTION, fast)
        fast.users += 1

    @property
    def encoding(self) -> Rotary:
        """The encoding that the model turns by."""
        return self._module[3].encoding

    def remove(self) -> None:
        """Put back the model's own module, and its function when no other model uses the fast one. Once is enough."""
        if not self._active:
            return
        owner, name, theirs, _ = self._module
        file, fast = self._function
        setattr(owner, name, theirs)
        fast.users -= 1
        if not fast.users:
            setattr(file, FUNCTION, fast.original)
        self._active = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.remove()


def _rotary_module(model: nn.Module) -> tuple[nn.Module, str, nn.Module]:
    """The module that holds it, its name there, and the one module that gives cosines and sines."""
    if getattr(model, "config", None) is None:
        raise GnomonError(
            f"fast_rotary takes a model of transformers, got {type(model).__name__}; gnomon's own models need nothing."
        )
    found = list(_rotary_modules(model))
    if any(isinstance(module, Rotation) for *_, module in found):
        raise GnomonError("The model is fast already; call remove() of what fast_rotary returned before.")
    if len(found) != 1:
        raise GnomonError(
            f"fast_rotary needs one module rotary_emb(x, position_ids) for all layers, {type(model).__name__} has "
            f"{len(found)}: it does not rotate, or its layers differ in how."
        )
    return found[0]


def _rotary_modules(model: nn.Module) -> Iterator[tuple[nn.Module, str, nn.Module]]:
    for owner in model.modules():
        for name, child in owner.named_children():
            if name == "rotary_emb" and {"x", "position_ids"} == set(inspect.signature(child.forward).parameters):
                yield owner, name, child


@torch.no_grad()
def _require_equal(theirs: nn.Module, function: Callable[..., Any], ours: Rotation, fast: Turning) -> None:
    rounded = [str(buffer.dtype) for buffer in theirs.buffers() if buffer.dtype in (torch.float16, torch.bfloat16)]
    if rounded:
        raise GnomonError(
            f"The inverse frequencies of this model were rounded to {rounded[0]} with its weights; load it with "
            f"dtype=..., which keeps them, or call fast_rotary before the cast."
        )
    device = next(iter(theirs.buffers()), torch.empty(0)).device
    if device.type == "meta":
        raise GnomonError("The model is on the meta device, where nothing can be compared; load its weights first.")
    generator = torch.Generator().manual_seed(0)
    width = ours.encoding.rotary_dim
    q, k = (torch.randn(2, heads, 16, width, generator=generator).to(device) for heads in (3, 1))
    positions = (torch.arange(16) + torch.tensor([[0], [21]])).to(device)
    try:
        want, got = function(q, k, *theirs(q, positions)), fast(q, k, *ours(q, positions))
    except (RuntimeError, TypeError, ValueError) as error:
        said = str(error).splitlines()[0]
        raise GnomonError(f"This model calls its rotation in a way of its own, and is left alone: {said}.") from error
    worst = max(float((a - b).abs().max()) for a, b in zip(want, got, strict=True))
    if not worst <= SAME:
        raise GnomonError(
            f"The rotation of this model differs by {worst:.2g} from the one that gnomon reads from its config, so it "
            f"is left alone: it pairs or orders its columns in another way, or was changed after it was built."
        )
