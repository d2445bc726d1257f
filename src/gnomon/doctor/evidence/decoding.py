"""Decoding through whatever memory a model has; which way it works is found by trying."""

import inspect
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal, final

import torch
from torch import Tensor, nn

from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.doctor.evidence.base import evidence
from gnomon.doctor.evidence.calling import Model, model
from gnomon.doctor.evidence.light_copy import light_copy
from gnomon.doctor.evidence.memories import ARGUMENTS, Filled, Kept, Memory, Open, Returned, factory_of, set_up
from gnomon.doctor.evidence.noise import difference
from gnomon.doctor.evidence.order import causality
from gnomon.doctor.evidence.signature import main_output
from gnomon.doctor.evidence.trace import require_attention

#: names for "so many tokens came before" in forwards that do not ask their cache
OFFSETS = (
    *("start_pos", "input_pos", "cache_position", "start_position", "offset", "offsets", "pos_offset", "start"),
    *("position_offset", "past_length", "past_len", "cache_len", "cur_pos", "current_pos", "pos", "index_pos"),
)
Form = Literal["none", "number", "places", "rows", "grid"]
FORMS: tuple[Form, ...] = ("number", "places", "rows", "grid")
KEPT_BY_FLAG = ("use_cache", "use_kv_cache", "cache", "incremental")
FIRST, SECOND = 4, 3  # tokens


@final
@dataclass(frozen=True)
class Way:
    """How a model decodes: where its memory is, how it is told the place, and which slots its mask describes."""

    name: str
    memory: Open
    offset: str | None = None
    form: Form = "none"
    span: Literal["all", "new"] = "all"
    kept: bool = False
    refuses_batches: str = ""  #: why a batch of two rows fails where one row runs

    def open(self, probe: Model, batch: int = 2, *, fresh: bool = True) -> "Session":
        """Begin a sequence. A module that remembers is copied if `fresh`, so that the one examined is not changed."""
        if self.kept and fresh:
            probe = light_copy(probe)
            set_up(probe.module, batch, min(probe.limit, 128))
        return Session(probe, self)

    def fed(
        self, probe: Model, content: Tensor, chunks: Sequence[int], *, fresh: bool = True, **given: Tensor | None
    ) -> Tensor:
        """Feed content (B, S) in chunks through one memory; the outputs joined, (B, S, ...). As `Session.feed`."""
        session, done, outputs = self.open(probe, content.shape[0], fresh=fresh), 0, []
        for size in chunks:
            now = slice(done, done + size)
            parts = {name: None if value is None else value[:, now] for name, value in given.items()}
            outputs.append(session.feed(content[:, now], **parts))
            done += size
        return torch.cat(outputs, dim=1)


@final
class Session:
    """One batch of sequences that is being decoded."""

    def __init__(self, probe: Model, way: Way) -> None:
        self.probe, self.way = probe, way
        self.memory: Memory = way.memory(probe.module)
        self.done = 0
        self._masks: list[Tensor] = []

    def feed(
        self, content: Tensor, *, mask: Tensor | None = None, positions: Tensor | None = None, **more: Any
    ) -> Tensor:
        """New tokens (B, N), with the mask (B, N) and the positions (B, N) of these -> their outputs (B, N, ...)."""
        batch, new = content.shape[:2]
        if mask is not None:
            self._masks = [*(self._masks if self.way.span == "all" else []), mask]
            mask = torch.cat(self._masks, dim=1)
        given = {**self.memory.arguments(), **self._told(batch, new, content.device), **more}
        with torch.no_grad():
            result = self.probe.forward(content, mask=mask, positions=positions, **given)
        self.memory.keep(result)
        self.done += new
        output = main_output(result)
        if output.ndim < 3 or output.shape[1] != new:
            raise MissingEvidence(f"fed {new} tokens after a cache, the model returned {tuple(output.shape)}")
        return output

    def keep_first(self, count: int) -> None:
        """After the memory was cut: go on from `count` slots."""
        self.done = count
        self._masks = [torch.cat(self._masks, dim=1)[:, :count]] if self._masks else []

    def move_rows(self, rows: Tensor) -> None:
        """After the rows of the memory were moved: those of the masks that were passed move with them."""
        self._masks = [mask[rows] for mask in self._masks]

    def _told(self, batch: int, new: int, device: torch.device) -> dict[str, Any]:
        """What the forward insists on knowing of the place: an offset, and position ids without a default."""
        places = torch.arange(self.done, self.done + new, device=device)
        forms = {"number": self.done, "places": places, "rows": torch.full((batch,), self.done, device=device)}
        grid = places.expand(batch, new)
        ids = self.probe.signature.positions
        told = {} if ids is None or not _insists(self.probe, ids) else {ids: grid}
        return told if self.way.offset is None else {**told, self.way.offset: forms.get(self.way.form, grid)}


@evidence
def decoding(subject: Subject) -> Way:
    """The way in which the model decodes: the first that equals one pass, else the first that remembers at all."""
    probe = model(subject)
    tries = list(_tries(probe))
    if not tries:
        raise MissingEvidence("the model has no cache argument")
    require_attention(subject)
    if not causality(subject).causal:
        raise MissingEvidence("the model looks both ways; it does not decode step by step")
    reasons: list[str] = []
    for rows in (2, 1):
        way = _tried(probe, tries, rows, reasons)
        if way is not None:
            return way if rows == 2 else replace(way, refuses_batches=reasons[0])
    raise MissingEvidence(reasons[0])


def _tried(probe: Model, tries: list[Way], rows: int, reasons: list[str]) -> Way | None:
    working: list[Way] = []
    for way in tries:
        try:
            equal = _remembers(probe, way, rows)
        except MissingEvidence as reason:
            reasons.append(str(reason))
            continue
        if equal:
            return _spanned(probe, way)
        working.append(way)
    return _spanned(probe, working[0]) if working else None


def _tries(probe: Model) -> Iterator[Way]:
    """Each memory that the forward's arguments allow, with each form of an offset that it takes."""
    parameters = inspect.signature(probe.module.forward).parameters
    taken = {probe.signature.content, probe.signature.mask}
    offset = next((name for name in OFFSETS if name in parameters and name not in taken), None)
    # Hugging Face's optional cache_position is derived from the cache; a number or a required argument is the caller's.
    ours = offset is not None and parameters[offset].default is not None
    for way in _memories(probe, parameters, offset is not None):
        plain = [] if ours or (way.kept and offset) else [way]
        told = [replace(way, offset=offset, form=form) for form in FORMS] if offset else []
        yield from (*plain, *told)


def _memories(probe: Model, parameters: Any, has_offset: bool) -> Iterator[Way]:
    names = [name for name in ARGUMENTS if name in parameters and not isinstance(parameters[name].default, bool)]
    flags = {"use_cache": True} if "use_cache" in parameters else {}
    for name in names:
        make = factory_of(probe.module)
        if make is not None:
            yield Way(name, partial(_filled, name, make, flags))
        yield Way(name, partial(_returned, name, flags))
        for kind in (dict, list):
            yield Way(name, partial(_filled, name, kind, flags))
    flag = next((n for n in KEPT_BY_FLAG if n in parameters and isinstance(parameters[n].default, bool)), None)
    if not names and (has_offset or flag):
        yield Way("the module", partial(_kept, {flag: True} if flag else {}), kept=True)


def _filled(name: str, make: Callable[[], Any], flags: dict[str, Any], _: nn.Module) -> Memory:
    return Filled(name, make(), flags)


def _returned(name: str, flags: dict[str, Any], _: nn.Module) -> Memory:
    return Returned(name, flags)


def _kept(flags: dict[str, Any], _: nn.Module) -> Memory:
    return Kept(flags)


def _remembers(probe: Model, way: Way, rows: int) -> bool:
    """Whether feeding in two parts equals one pass; raises MissingEvidence when the first part is not remembered."""
    length = probe.length(FIRST + SECOND)
    if length < 3:
        raise MissingEvidence(f"the model takes {length} tokens, too few to decode")
    split = max(1, length - SECOND)
    chunks = [split, *[1] * (length - split)]
    content, other = probe.draw(rows, length, seed=71), probe.draw(rows, length, seed=72)
    other[:, split:] = content[:, split:]
    output, changed = way.fed(probe, content, chunks), way.fed(probe, other, chunks)
    if difference(output[:, split:], changed[:, split:]) < 1e-6:
        raise MissingEvidence("what was fed before has no effect: the model keeps no cache")
    return difference(output, probe(content)) <= probe.tolerance


def _insists(probe: Model, name: str) -> bool:
    parameter = inspect.signature(probe.module.forward).parameters.get(name)
    return parameter is not None and parameter.default is inspect.Parameter.empty


def _spanned(probe: Model, way: Way) -> Way:
    """The way, with the slots that its mask must describe: all so far, or the new ones."""
    if probe.signature.mask is None:
        return way
    content = probe.draw(2, 3, seed=73)
    ones = torch.ones(content.shape[:2], dtype=torch.int64, device=content.device)
    plain, running = way.fed(probe, content, [2, 1]), []
    for span in ("all", "new"):
        told = replace(way, span=span)
        try:
            effect = difference(plain, told.fed(probe, content, [2, 1], mask=ones))
        except MissingEvidence:
            continue
        running.append((effect > probe.tolerance, told))
    return min(running, key=lambda tried: tried[0])[1] if running else way
