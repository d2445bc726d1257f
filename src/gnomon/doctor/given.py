"""What callers pass beside the target, looked at first: a wrong type is one sentence, not many crashed checks."""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from gnomon.adapters import load_subject
from gnomon.adapters.lengths import checked_lengths
from gnomon.adapters.subject import Absent, Lazy, Subject
from gnomon.doctor.evidence.base import attempt
from gnomon.doctor.evidence.batches import batch_arguments
from gnomon.doctor.evidence.optimizing import optimizers
from gnomon.errors import GnomonError

Test = Callable[[Any], bool]


def require_sound(evidence: Mapping[str, Any], *, allow_pickle: bool = False) -> None:
    """Raise a GnomonError that names the first piece of evidence whose type no check could use."""
    for name, value in evidence.items():
        if name not in RULES or isinstance(value, Lazy | Absent):
            continue
        fits, wanted = RULES[name]
        if not fits(value):
            shown = repr(value) if isinstance(value, str | int | float | None) else f"a {type(value).__name__}"
            raise GnomonError(f"{name} is {wanted}; got {shown[:60]}.")
    if "lengths" in evidence:
        checked_lengths(evidence["lengths"])
    if isinstance(where := evidence.get("reference"), str | Path):
        try:
            load_subject(where, forward=False, allow_pickle=allow_pickle)
        except GnomonError as error:
            raise GnomonError(f"The reference cannot be read: {error}") from None


def require_usable(subject: Subject) -> None:
    """Raise a GnomonError for a function that makes no optimizer, and for batches that the forward cannot take."""
    if subject.has("optimizer"):
        attempt(optimizers, subject)
    if subject.has("batches") and isinstance(subject.get("batches"), list | tuple):
        attempt(batch_arguments, subject)


def _flag(value: Any) -> bool:
    return isinstance(value, bool)


def _mapping(value: Any) -> bool:
    return isinstance(value, Mapping)


def _several(value: Any) -> bool:
    """A list, a data loader: anything to go through that is not one batch itself."""
    return isinstance(value, Iterable) and not isinstance(value, Mapping | str | bytes | Tensor)


def _batches(value: Any) -> bool:
    """Lists are looked into; a loader may only be gone through once."""
    known = value if isinstance(value, list | tuple) else ()
    return _several(value) and all(isinstance(batch, Mapping | list | tuple | Tensor) for batch in known)


def _optimizer(value: Any) -> bool:
    """A class of optimizers would take the module for its list of parameters."""
    several = value if isinstance(value, list | tuple) else [value]
    made = callable(value) and not (isinstance(value, type) and issubclass(value, Optimizer))
    return bool(several) and (made or all(isinstance(one, Optimizer) for one in several))


def _token_ids(value: Any) -> bool:
    try:
        ids = torch.as_tensor(value)
    except (TypeError, ValueError, RuntimeError):
        return False
    whole = not ids.is_floating_point() and not ids.is_complex() and ids.dtype is not torch.bool
    return whole and ids.dim() in (1, 2) and ids.numel() > 0 and int(ids.min()) >= 0


def _slopes(value: Any) -> bool:
    if callable(value):
        return True
    try:
        return isinstance(value, list | tuple) and bool(value) and all(len(torch.as_tensor(part)) for part in value)
    except (TypeError, ValueError, RuntimeError):
        return False


def _shards(value: Any) -> bool:
    if not isinstance(value, Mapping) or "positions" not in value:
        return False
    positions = value["positions"]
    return callable(positions) or _several(positions)


def _target(value: Any) -> bool:
    pair = isinstance(value, tuple) and bool(value) and isinstance(value[0], nn.Module)
    return pair or isinstance(value, str | Path | Mapping | nn.Module)


#: what each may be, and how that is said
RULES: dict[str, tuple[Test, str]] = {
    "config": (_mapping, "a mapping, as config.json holds it"),
    "tokenizer": (_mapping, "a mapping, as tokenizer_config.json holds it"),
    "example": (lambda value: isinstance(value, Mapping | tuple | list | Tensor), "a mapping of forward arguments"),
    "trained": (_flag, "True or False"),
    "causal": (_flag, "True or False"),
    "ordered": (_flag, "True or False"),
    "text": (_token_ids, "whole numbers from 0 up: token ids of real text, (S,) or (B, S)"),
    "optimizer": (_optimizer, "a torch optimizer, a list of them, or a function that makes one from the module"),
    "batches": (_batches, "a list of forward arguments (mappings or tuples)"),
    "device_map": (_mapping, "a mapping from modules to devices, as in model.hf_device_map"),
    "factory": (callable, "a function without arguments that builds the module anew"),
    "shards": (
        _shards,
        "a mapping with 'positions', one tensor a rank or a function of module and rank",
    ),
    "slopes": (_slopes, "a list of the slopes of each rank, or a function that makes it from the module"),
    "reference": (_target, "a path, a config (mapping) or a module: the model before it was changed"),
}
