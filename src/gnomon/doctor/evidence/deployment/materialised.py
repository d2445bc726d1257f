"""What is left of a model that was built without memory and filled from its state dict: meta, to_empty, strict load."""

import inspect
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.adapters.wording import said
from gnomon.doctor.evidence.base import evidence
from gnomon.doctor.evidence.calling import Model, model
from gnomon.doctor.evidence.deployment.copies import replica, untouched
from gnomon.doctor.evidence.noise import difference

#: methods that people give a module for this moment, in the order in which they are tried
REMEDIES = (
    *("reset_buffers", "init_buffers", "reset_parameters", "_reset_parameters", "init_weights", "rope_init"),
    *("initialize_weights", "reset", "initialize", "build_table", "build_rope_cache"),
)
LARGEST = 300_000_000  # parameters; a second copy of more would not fit everywhere


@dataclass(frozen=True)
class Materialised:
    """`lost`: not what they were after a strict load. `still`: nor after the module's own means to set them up.

    `tried`: those means. `effect`: what that does to the outputs, infinite when they are NaN or the forward fails.
    `right`: the first numbers that each lost one should hold.
    """

    lost: tuple[str, ...]
    still: tuple[str, ...]
    tried: tuple[str, ...]
    effect: float
    right: dict[str, list[float]]


@evidence
def materialised(subject: Subject) -> Materialised:
    """Builds the model empty on a copy, loads its state dict strictly, and calls what it offers to restore the rest."""
    probe = model(subject)
    if sum(p.numel() for p in probe.module.parameters()) > LARGEST:
        raise MissingEvidence(f"the model has more than {LARGEST:,} parameters; examine a smaller one of its kind")
    module = untouched(subject)
    right = dict(_derived(module))
    state = probe.module.state_dict()
    try:
        module = module.to("meta").to_empty(device=probe.device)
        _spoil(module)
        module.load_state_dict(state, strict=True)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - a state dict may be of any kind
        raise MissingEvidence(f"the model cannot be emptied and loaded again: {said(error)}") from None
    for name in _always_made(module, right):
        owner, _, own = name.rpartition(".")
        setattr(module.get_submodule(owner), own, right[name])
    lost = _different(module, right)
    tried = _restore(module, lost, state)
    still = _different(module, right)
    effect = _effect(probe, module) if still else 0.0
    return Materialised(lost, still, tried, effect, {name: _first(right[name]) for name in lost})


def _derived(module: nn.Module) -> Iterator[tuple[str, Tensor]]:
    """Copies of the buffers, and of the plain tables that hang on a module."""
    for path, part in module.named_modules():
        prefix = f"{path}." if path else ""
        for name, buffer in part.named_buffers(recurse=False):
            yield prefix + name, buffer.detach().clone()
        for name, value in vars(part).items():
            if _is_table(value):
                yield prefix + name, value.detach().clone()


def _spoil(module: nn.Module) -> None:
    """What memory that nobody wrote to may hold: NaN, and numbers that are no index."""
    with torch.no_grad():
        for tensor in (*module.parameters(), *module.buffers()):
            tensor.fill_(_garbage(tensor))
        for part in module.modules():
            for name, value in vars(part).items():
                if _is_table(value):
                    setattr(part, name, torch.full_like(value, _garbage(value)))


def _is_table(value: Any) -> bool:
    return isinstance(value, Tensor) and (value.is_floating_point() or value.is_complex())


def _garbage(tensor: Tensor) -> float:
    return float("nan") if tensor.is_floating_point() or tensor.is_complex() else -1


def _different(module: nn.Module, right: dict[str, Tensor]) -> tuple[str, ...]:
    now = dict(_derived(module))
    return tuple(n for n, value in right.items() if n not in now or not _same(now[n], value))


def _same(a: Tensor, b: Tensor) -> bool:
    return a.shape == b.shape and bool(torch.allclose(a, b.to(a.dtype), rtol=1e-5, atol=1e-8, equal_nan=True))


def _restore(module: nn.Module, lost: tuple[str, ...], state: dict[str, Tensor]) -> tuple[str, ...]:
    """Calls the means of the modules that own what was lost, then the whole model's; returns which were called."""
    tried: list[str] = []
    owners = dict.fromkeys(name.rpartition(".")[0] for name in lost)
    with torch.random.fork_rng(devices=[]), torch.no_grad():
        for path in owners:
            part = module.get_submodule(path)
            if (nearest := _nearest_loadable(module, path)) is not None:
                tried += _call(nearest, "_init_weights", part)
            else:
                tried += next((called for name in REMEDIES if (called := _call(part, name))), [])
        if owners and not tried:
            tried += next((called for name in REMEDIES if (called := _call(module, name))), [])
        module.load_state_dict(state, strict=True)
    return tuple(dict.fromkeys(tried))


def _nearest_loadable(module: nn.Module, path: str) -> nn.Module | None:
    """The innermost model of transformers around a part: its `_init_weights` is the one that loading calls."""
    names = path.split(".") if path else []
    around = (module.get_submodule(".".join(names[:n])) for n in range(len(names), -1, -1))
    loadable = (p for p in around if hasattr(p, "from_pretrained") and callable(getattr(p, "_init_weights", None)))
    return next(loadable, None)


def _always_made(module: nn.Module, right: dict[str, Tensor]) -> frozenset[str]:
    """Plain tables that a constructor makes with numbers on the meta device too (by numpy): loading loses none."""
    if not hasattr(module, "from_pretrained"):
        return frozenset()
    try:
        with torch.device("meta"):
            empty = type(module)(module.config)  # type: ignore[call-arg]
    except Exception:  # noqa: BLE001 - a constructor of the user's own may want anything
        return frozenset()
    made = {name: value for name, value in _derived(empty) if not value.is_meta}
    return frozenset(name for name, value in made.items() if name in right and _same(value, right[name]))


def _call(owner: nn.Module, name: str, *arguments: Any) -> list[str]:
    """The method's name when it exists, takes these arguments and does not fail."""
    method = getattr(owner, name, None)
    try:
        inspect.signature(method).bind(*arguments)  # type: ignore[arg-type]
        method(*arguments)  # type: ignore[misc]
    except (Exception, SystemExit):  # noqa: BLE001 - a method of the user's own may do anything
        return []
    return [f"{type(owner).__name__}.{name}"]


def _effect(probe: Model, module: nn.Module) -> float:
    content = probe.draw(2, 0 if probe.takes_images else probe.length(8), seed=72)
    before = probe(content)
    try:
        after = replica(probe, module)(content)
    except MissingEvidence:
        return float("inf")
    return difference(before, after) if bool(after.isfinite().all()) else float("inf")


def _first(values: Tensor) -> list[float]:
    numbers = values.real if values.is_complex() else values
    return [float(f"{float(v):.4g}") for v in numbers.flatten()[:4]]
