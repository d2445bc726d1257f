"""Clauses about the module as an object: arguments, gradients, JSON, copies, state, and the meta device."""

import copy
import json
from collections.abc import Iterator, Mapping
from typing import Any

import torch
from torch import Tensor

from gnomon.encodings.base import PositionEncoding, from_json, registry
from gnomon.testing.trial import VECTOR_HOOKS, ClauseError, Trial, require_same


def arguments_unchanged(trial: Trial) -> None:
    """No hook writes into its arguments."""
    inputs, before = trial.inputs(), trial.inputs()
    trial.run(inputs)
    for name in ("x", "q", "k", "positions"):
        if not torch.equal(getattr(inputs, name), getattr(before, name)):
            raise ClauseError(f"a hook changed its argument {name} in place.")


def gradients(trial: Trial) -> None:
    """Gradients reach every component of x, q and k, and the parameters; `learned` says whether there are any."""
    inputs = trial.inputs()
    leaves = dict(zip(VECTOR_HOOKS, (inputs.x, inputs.q, inputs.k), strict=True))
    for leaf in leaves.values():
        leaf.requires_grad_()
    encoding = copy.deepcopy(trial.encoding)
    results = trial.run(inputs, encoding).values()
    weighted = [(value * torch.linspace(1, 2, value.numel()).view_as(value)).sum() for value in results]
    torch.stack(weighted).sum().backward()
    for name, leaf in leaves.items():
        _require_gradient(f"the argument of {name}", leaf.grad)
    parameters = {name: item for name, item in encoding.named_parameters() if item.requires_grad}
    if bool(parameters) != encoding.learned:
        raise ClauseError(
            f"learned is {encoding.learned} but the trainable parameters are {sorted(parameters) or 'none'}."
        )
    for name, parameter in parameters.items():
        if parameter.grad is None or not parameter.grad.isfinite().all() or not parameter.grad.any():
            raise ClauseError(f"the parameter {name} gets no gradient.")


def json_round_trip(trial: Trial) -> None:
    """The options are plain JSON and build an equal encoding, through the registry where it is registered."""
    text = json.dumps(trial.encoding.options, allow_nan=False)
    rebuilt = [type(trial.encoding)(**json.loads(text))]
    if any(cls is type(trial.encoding) for _, cls in registry):
        rebuilt.append(from_json(trial.encoding.to_json()))
    for other in rebuilt:
        if other.options != trial.encoding.options:
            raise ClauseError(f"options came back as {other.options}, expected {trial.encoding.options}.")
        _require_equal_after_loading(trial, other, "rebuilt from JSON")


def copies(trial: Trial) -> None:
    """A deep copy gives the same numbers, and changing its parameters leaves the original alone."""
    inputs = trial.inputs()
    want = trial.run(inputs)
    other = copy.deepcopy(trial.encoding)
    require_same(trial.run(inputs, other), want, "a deep copy", 0.0)
    _overwrite(other)
    require_same(trial.run(inputs), want, "after its copy was overwritten", 0.0)


def state_dict(trial: Trial) -> None:
    """The state dict holds the parameters and nothing else: tables are derived from the options."""
    parameters = {name for name, _ in trial.encoding.named_parameters()}
    extra = sorted(set(trial.encoding.state_dict()) - parameters)
    if extra:
        raise ClauseError(f"the state dict holds {', '.join(extra)}, which are not parameters.")


def separate_instances(trial: Trial) -> None:
    """Two instances share nothing: neither one with the same options nor one whose numbers differ."""
    inputs = trial.inputs()
    want = trial.run(inputs)
    _overwrite(_rebuild(trial, trial.encoding.options))
    require_same(trial.run(inputs), want, "after an equal instance was overwritten", 0.0)
    effects = []
    for options in _neighbours(trial.encoding.options):
        try:
            neighbour = _rebuild(trial, options)
        except ValueError:
            continue  # an option that the encoding does not allow
        effects.append(_differs(trial, neighbour))
        require_same(trial.run(inputs), want, f"after an instance with {options} was made and used", 0.0)
    if effects and not any(effects):
        raise ClauseError(f"no number changes when an option of {trial.encoding.options} doubles; is a table shared?")


def meta_device(trial: Trial) -> None:
    """Built on the meta device, emptied onto the CPU and loaded, it gives the same numbers."""
    with torch.device("meta"):
        other = _rebuild(trial, trial.encoding.options)
    emptied = other.to_empty(device="cpu")
    with torch.no_grad():
        for tensor in (*emptied.parameters(), *emptied.buffers()):  # memory may hold the right numbers by chance
            tensor.fill_(float("nan") if tensor.is_floating_point() else 0)
    _require_equal_after_loading(trial, emptied, "after the meta device")


def _require_gradient(what: str, gradient: Tensor | None) -> None:
    if gradient is None or not gradient.isfinite().all():
        raise ClauseError(f"{what} gets no finite gradient.")
    missing = (gradient == 0).sum().item()
    if missing:
        raise ClauseError(f"{what} gets no gradient in {missing} of {gradient.numel()} components.")


def _require_equal_after_loading(trial: Trial, other: PositionEncoding, what: str) -> None:
    inputs = trial.inputs()
    other.load_state_dict(trial.encoding.state_dict())
    require_same(trial.run(inputs, other), trial.run(inputs), what, 0.0)


def _differs(trial: Trial, other: PositionEncoding) -> bool:
    """Whether any hook gives other numbers, near the start or, where there is no limit, far out."""
    near = trial.inputs()
    places = [near] if trial.limits[0] else [near, near.shifted(1_000_000)]
    for inputs in places:
        mine, others = trial.run(inputs), trial.run(inputs, other)
        if mine.keys() != others.keys() or any(not torch.equal(mine[name], others[name]) for name in mine):
            return True
    return False


def _rebuild(trial: Trial, options: Mapping[str, Any]) -> PositionEncoding:
    return type(trial.encoding)(**copy.deepcopy(dict(options)))


def _overwrite(encoding: PositionEncoding) -> None:
    with torch.no_grad():
        for tensor in (*encoding.parameters(), *encoding.buffers()):
            tensor.fill_(7.0)


def _neighbours(options: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The options with one number with a point doubled, nested ones too: what a cache with too small a key mixes up."""
    for key, value in options.items():
        if isinstance(value, float):
            yield {**options, key: 2 * value}
        elif isinstance(value, Mapping):
            yield from ({**options, key: inner} for inner in _neighbours(value))
