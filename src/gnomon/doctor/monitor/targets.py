"""What is watched: the tables of positions and of words, found in a live model by name alone."""

from dataclasses import dataclass
from typing import cast

from torch import Tensor, nn

from gnomon.adapters.position_names import is_relative_name, of_encodings
from gnomon.doctor.evidence.tables import WORD_NAME, is_position_name

WRAPPERS = ("_orig_mod", "module")  #: where torch.compile and data-parallel wrappers keep the model


@dataclass(frozen=True)
class Targets:
    """`positions`: trainable parameters of positions by name. `words`: the token table, None when there is none."""

    positions: dict[str, nn.Parameter]
    words: nn.Parameter | None
    buffers: dict[str, Tensor]


def unwrap(model: nn.Module) -> nn.Module:
    """The model inside torch.compile's and DistributedDataParallel's wrappers.

    >>> inner = nn.Linear(2, 2)
    >>> unwrap(nn.DataParallel(inner)) is inner
    True
    """
    wraps = hasattr(model, "_orig_mod") or isinstance(model, nn.DataParallel | nn.parallel.DistributedDataParallel)
    if not wraps:
        return model
    return unwrap(next(part for name in WRAPPERS if isinstance(part := getattr(model, name, None), nn.Module)))


def targets(model: nn.Module) -> Targets:
    """Found by the names the field uses, and in gnomon's own encodings; no numbers are read."""
    own = of_encodings(model)
    named = {n: p for n, p in model.named_parameters() if n in own or is_position_name(n, ()) or is_relative_name(n)}
    buffers = {
        n: b for n, b in model.named_buffers() if b.ndim >= 2 and b.is_floating_point() and is_position_name(n, ())
    }
    return Targets({n: p for n, p in named.items() if p.requires_grad}, _words(model), buffers)


def _words(model: nn.Module) -> nn.Parameter | None:
    """The token table by its name, else the largest embedding that holds no positions."""
    tables: dict[str, nn.Parameter] = {
        f"{path}.weight".lstrip("."): cast(nn.Parameter, part.weight)
        for path, part in model.named_modules()
        if isinstance(part, nn.Embedding) and not is_position_name(f"{path}.weight", ())
    }
    named = [weight for name, weight in tables.items() if WORD_NAME.search(name)]
    return max(named or tables.values(), key=len, default=None)
