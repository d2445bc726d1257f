"""The ways in which one model computes the same attention: implementations, kernels, and flags that choose a path."""

import contextlib
import inspect
import logging
import re
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn

from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.doctor.evidence.base import evidence
from gnomon.doctor.evidence.calling import Model, model
from gnomon.doctor.evidence.signature import main_output
from gnomon.doctor.evidence.trace import require_attention

IMPLEMENTATIONS = ("eager", "sdpa")
SLOW_IMPLEMENTATIONS = ("flex_attention",)  #: loading it takes seconds
ASKS_FOR_WEIGHTS = ("output_attentions", "need_weights", "return_attention", "return_attentions", "return_attn")
CHOOSES = re.compile(r"_?(use_)?_?(flash|sdpa|fused|memory_efficient|sdp)(_?(attn|attention|sdp))?_?(enabled)?$")


@dataclass(frozen=True)
class Backend:
    """One way to run the model's attention, beside the one it takes by itself."""

    name: str
    probe: Model
    within: Callable[[], AbstractContextManager[None]] = contextlib.nullcontext
    arguments: Mapping[str, Any] = field(default_factory=dict)

    @property
    def module(self) -> nn.Module:
        return self.probe.module

    def __call__(self, content: Tensor, *, mask: Tensor | None = None) -> Tensor:
        """As `Model.__call__`."""
        with torch.no_grad(), _quiet(), self.within():
            return main_output(self.probe.forward(content, mask=mask, **self.arguments))


@evidence
def backends(subject: Subject) -> tuple[Backend, ...]:
    """Every backend beside the model's own that runs here; raises MissingEvidence when there is no other."""
    return _running(subject, _candidates(model(subject), IMPLEMENTATIONS))


@evidence
def slow_backends(subject: Subject) -> tuple[Backend, ...]:
    """Those that take seconds to load."""
    return _running(subject, _implementations(model(subject), SLOW_IMPLEMENTATIONS))


def _running(subject: Subject, candidates: Iterator[Backend]) -> tuple[Backend, ...]:
    require_attention(subject)
    probe = model(subject)
    content = probe.draw(2, 0 if probe.takes_images else probe.length(5))
    found = []
    for backend in candidates:
        try:
            backend(content)
        except (MissingEvidence, AttributeError, ValueError, RuntimeError, ImportError):
            continue  # a flag without the code behind it, or an implementation that the class does not have
        found.append(backend)
    if not found:
        raise MissingEvidence("the model computes its attention in one way only")
    return tuple(found)


def _candidates(probe: Model, implementations: tuple[str, ...]) -> Iterator[Backend]:
    yield from _implementations(probe, implementations)
    parameters = inspect.signature(probe.module.forward).parameters
    hub = hasattr(probe.module, "config") and hasattr(probe.module, "set_attn_implementation")
    for name in ASKS_FOR_WEIGHTS:
        if name in parameters or (hub and name == ASKS_FOR_WEIGHTS[0]):
            yield Backend(f"{name}=True", probe, arguments={name: True})
    flagged = [(part, name) for part in probe.module.modules() for name in vars(part) if CHOOSES.fullmatch(name)]
    for name in dict.fromkeys(name for part, name in flagged if type(getattr(part, name)) is bool):
        yield Backend(f"{name} turned round", probe, lambda name=name: _flipped(probe.module, name))  # type: ignore[misc]
    yield Backend("torch's plain kernel (SDPBackend.MATH)", probe, _plain_kernel)
    if any(isinstance(part, nn.TransformerEncoderLayer | nn.MultiheadAttention) for part in probe.module.modules()):
        yield Backend("torch's fast path off", probe, _no_fast_path)


def _implementations(probe: Model, names: tuple[str, ...]) -> Iterator[Backend]:
    """Those of transformers, by `set_attn_implementation`; a class that cannot change its own has none."""
    can_set = getattr(probe.module, "_can_set_attn_implementation", None)
    if can_set is None or not can_set():
        return
    own = getattr(getattr(probe.module, "config", None), "_attn_implementation", None)
    for name in names:
        if name != own:
            yield Backend(f'attn_implementation="{name}"', probe, lambda name=name: _set(probe.module, name, own))  # type: ignore[misc]


@contextmanager
def _set(module: Any, name: str, own: Any) -> Iterator[None]:
    module.set_attn_implementation(name)
    try:
        # flex is compiled where it is called, which takes minutes; uncompiled it gives the same numbers.
        with torch.compiler.set_stance("force_eager") if name in SLOW_IMPLEMENTATIONS else contextlib.nullcontext():
            yield
    finally:
        module.set_attn_implementation(own)


@contextmanager
def _flipped(module: nn.Module, name: str) -> Iterator[None]:
    before = [(part, getattr(part, name)) for part in module.modules() if type(vars(part).get(name)) is bool]
    for part, value in before:
        setattr(part, name, not value)
    try:
        yield
    finally:
        for part, value in before:
            setattr(part, name, value)


@contextmanager
def _plain_kernel() -> Iterator[None]:
    with torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.MATH):
        yield


@contextmanager
def _no_fast_path() -> Iterator[None]:
    before = torch.backends.mha.get_fastpath_enabled()
    torch.backends.mha.set_fastpath_enabled(False)
    try:
        yield
    finally:
        torch.backends.mha.set_fastpath_enabled(before)


@contextmanager
def _quiet() -> Iterator[None]:
    """Without the notes that libraries print when another implementation is asked for."""
    before = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(before)
