"""How to call a model nobody described: a private copy, arguments by meaning, and one tensor out."""

import copy
from dataclasses import replace
from typing import Any, final

import torch
from torch import Tensor, nn

from gnomon.adapters.families.config_reader import LENGTH
from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.adapters.wording import said
from gnomon.doctor.evidence.arguments import completed, like_content, vocabulary
from gnomon.doctor.evidence.base import attempt, claims, evidence
from gnomon.doctor.evidence.conventions import MaskForm, mask_form, outputs_turned, sequence_first
from gnomon.doctor.evidence.redraw import redraw
from gnomon.doctor.evidence.signature import Signature, main_output, read_signature, spelled_out
from gnomon.doctor.thresholds import OUTPUT

LONGEST_PROBE = 4096  # tokens; a longer forward costs minutes on a CPU
UNITS = 8  # in the last place of the dtype: what layers of rounding add up to
FURTHEST = 16_384  # the furthest position id tried; float32 angles are good to 2e-3 there


@final
class Model:
    """A private copy of the subject's module in eval mode, called by meaning instead of by name.

    Content is token ids (B, S) int64, or vectors (B, S, W) when the model takes no ids, or images (B, C, H, W). Results
    are (B, S, ...), for a model that is sequence-first too: content and results are turned around it.
    """

    def __init__(self, module: nn.Module, signature: Signature, example: dict[str, Any], limit: int | None) -> None:
        self.module = module
        self.signature = signature
        self.limit = min(limit or LONGEST_PROBE, LONGEST_PROBE)
        self.furthest = min(limit or FURTHEST, FURTHEST)
        self._sample: Tensor = self._turned(example[signature.content])
        self._fixed = {k: v for k, v in example.items() if k != signature.content}
        self._only: int | None = None  #: the one length that a model of fixed length takes
        self._runs = 1  #: the longest length that has been seen to run
        self._reached = 2  #: the greatest number of position ids that has been seen to run
        self.takes_ids = not self._sample.is_floating_point()
        self.vocabulary = vocabulary(module, self._sample, self) if self.takes_ids else 0

    @property
    def device(self) -> torch.device:
        return self._sample.device

    @property
    def dtype(self) -> torch.dtype:
        """The dtype the model computes in, by its first floating parameter."""
        floating = (p.dtype for p in self.module.parameters() if p.is_floating_point())
        return next(floating, torch.float32)

    @property
    def is_half(self) -> bool:
        return torch.finfo(self.dtype).bits < 32

    @property
    def tolerance(self) -> float:
        """What rounding may change of an output, relative to its size: a few units in the last place of the dtype."""
        return max(OUTPUT.value, UNITS * torch.finfo(self.dtype).eps)

    @property
    def takes_images(self) -> bool:
        """Whether the content has no axis of places: images (B, C, H, W), videos, or waves (B, samples)."""
        return self._sample.ndim > 3 or (self._sample.ndim == 2 and self._sample.is_floating_point())

    @property
    def only_length(self) -> int | None:
        """The one length that the model takes, where it takes no other."""
        return self._only

    def draw(self, batch: int, length: int, seed: int = 0) -> Tensor:
        """Random content: ids that avoid the first few (padding and other special tokens), or N(0, 1) vectors.

        Images have the size of the example's, whatever the length.
        """
        generator = torch.Generator().manual_seed(seed)
        if not self.takes_ids:
            own = self._sample.shape
            shape = (batch, *own[1:]) if self.takes_images else (batch, length, own[-1])
            if "grid_thw" in self._fixed:  # the patches of all images in a row (Qwen2-VL), without an axis of the batch
                shape = own
            return torch.randn(shape, generator=generator).to(self._sample)
        low = min(5, self.vocabulary // 2)
        ids = torch.randint(low, self.vocabulary, (batch, length), generator=generator)
        return ids.to(self.device)

    def __call__(self, content: Tensor, *, mask: Tensor | None = None, positions: Tensor | None = None) -> Tensor:
        """Content (B, S), mask (B, S) of 0 and 1, positions (B, S) int64 -> the model's main output (B, S, ...)."""
        with torch.no_grad():
            return main_output(self.forward(content, mask=mask, positions=positions))

    def forward(
        self, content: Tensor, *, mask: Tensor | None = None, positions: Tensor | None = None, **more: Any
    ) -> Any:
        """As `__call__`, with gradients and with whatever the model returns."""
        names = self.signature
        arguments = {**self._others(content), names.content: self._turned(content), **more}
        if mask is not None:
            arguments[_need(names.mask, "attention mask")] = names.mask_form.of(mask)
        if positions is not None:
            arguments[_need(names.positions, "position ids")] = positions
        by_place = [arguments.pop(name) for name in names.positional if name in arguments]
        try:
            result = self.module(*by_place, **arguments)
            return _turned_back(main_output(result)) if names.sequence_first or names.turned else result
        except MissingEvidence:
            raise
        except (Exception, SystemExit, GeneratorExit) as error:
            raise MissingEvidence(
                f"the forward fails on content of shape {tuple(content.shape)}: {said(error)}"
            ) from error

    def _turned(self, value: Any) -> Any:
        """Between (B, S, ...) and (S, B, ...), for a model that is sequence-first."""
        if not self.signature.sequence_first or not isinstance(value, Tensor) or value.ndim < 2:
            return value
        return value.transpose(0, 1).contiguous()

    def _others(self, content: Tensor) -> dict[str, Any]:
        """The example's other arguments: plain values as they are, tensors as their first row for every row here."""
        whole = torch.ones(content.shape[:2], dtype=torch.int64, device=content.device)
        fill = {self.signature.mask: self.signature.mask_form.of(whole), self.signature.positions: whole.cumsum(1) - 1}
        return {
            name: fill[name]
            if name in fill and _by_place(value, self._sample)
            else like_content(value, self._sample, content)
            for name, value in self._fixed.items()
        }

    def cast(self, dtype: torch.dtype) -> "Model":
        """A copy after `Module.to(dtype)`, called in the same way; content of vectors is the caller's to cast."""
        other = copy.copy(self)
        other.module = copy.deepcopy(self.module).to(dtype)
        other._fixed = {
            k: v.to(dtype) if isinstance(v, Tensor) and v.is_floating_point() else v for k, v in self._fixed.items()
        }
        return other

    def length(self, wanted: int) -> int:
        """`wanted`, or the longest length found that the model takes: stated limits are believed, others are tried.

        Raises MissingEvidence for a model that takes images: they have no axis of places.
        """
        if self.takes_images:
            raise MissingEvidence(
                f"the content {tuple(self._sample.shape)} is images, without an axis of places to vary"
            )
        own = self._sample.shape[1]
        length = self._only or min(wanted, self.limit)
        while length > self._runs:
            if self.runs(length):
                self._runs = length
            elif length <= own and self.runs(own):  # a table added whole: this length and no other
                self._only = self._runs = length = self.limit = self.furthest = own
            else:
                shorter = own if own < length else 0
                self.limit = self.furthest = length = max(length // 2, shorter, self._runs)
        return length

    def runs(self, length: int) -> bool:
        """Whether one row of so many tokens runs, whatever is stated."""
        try:
            self(self.draw(1, length))
        except MissingEvidence:
            return False
        return True

    def reach(self, wanted: int) -> int:
        """`wanted`, or the greatest number found such that position ids below it can be passed."""
        last = min(wanted, self.furthest)
        while last > self._reached:
            ids = torch.arange(last - 2, last, device=self.device)[None]
            try:
                self(self.draw(1, 2), positions=ids)
                self._reached = last
            except Exception:  # noqa: BLE001 - whatever a forward says to an id beyond its table
                self.furthest = last = max(last // 2, self._reached)
        return last


@evidence
def model(subject: Subject) -> Model:
    """The model, ready to be probed. Untrained weights are redrawn: default initialisation hides position faults."""
    if subject.trained:
        return untouched_model(subject)
    module = copy.deepcopy(subject.module).eval()
    redraw(module)
    return _ready(module, subject)


def _ready(module: nn.Module, subject: Subject) -> Model:
    """Wrap, and run a few times: a model that cannot run gives no evidence, and says why."""
    example = spelled_out(module, subject.example)
    signature = read_signature(module, example)
    limit = stated_limit(subject)
    probe = _running(module, signature, example, limit)
    content = _few(probe)
    output = probe(content)
    if not bool(output.isfinite().all()):
        raise MissingEvidence("the forward gives NaN or infinite outputs")
    if probe.takes_images:
        probe.signature = replace(probe.signature, mask=None, positions=None)
        return probe
    if outputs_turned(content, output):
        probe.signature = replace(probe.signature, turned=True)
    elif sequence_first(content, output, probe(_last_changed(probe, content))):
        probe = _running(module, replace(signature, sequence_first=True), example, limit)
    content = _few(probe)
    probe.signature = _tried(probe, content, probe(content))
    return probe


def _few(probe: Model) -> Tensor:
    """Content of two rows and a few places; images are as they are."""
    return probe.draw(2, 0 if probe.takes_images else probe.length(5))


def _last_changed(probe: Model, content: Tensor) -> Tensor:
    changed = content.clone()
    changed[0, -1] = content[0, -1] + 1 if not probe.takes_ids else (content[0, -1] + 1) % probe.vocabulary
    return changed


def _running(module: nn.Module, signature: Signature, example: dict[str, Any], limit: int | None) -> Model:
    """The model with as few arguments of the example as it runs with: each ties the probes to the example's shapes.

    What the forward insists on and the example lacks is added, where its name tells what it is.
    """
    plain = {k: v for k, v in example.items() if k == signature.content or not isinstance(v, Tensor)}
    more = completed(module, signature, example)
    failure = MissingEvidence("the forward was not run")
    for given in (plain, example, *([more] if more else [])):
        probe = Model(module, signature, given, limit)
        try:
            probe(_few(probe))
            return probe
        except MissingEvidence as reason:
            failure = failure if given is more else reason
    raise failure


def _tried(probe: Model, content: Tensor, output: Tensor) -> Signature:
    """The signature without the arguments that the forward takes in no form known here."""
    names = probe.signature
    ones = torch.ones(content.shape[:2], dtype=torch.int64, device=content.device)
    form = None
    if names.mask is not None:
        mask = names.mask
        with torch.no_grad():
            form = mask_form(mask, output, lambda value: main_output(probe.forward(content, **{mask: value})), ones)
    positions = names.positions
    if positions is not None:
        try:
            probe(content, positions=ones.cumsum(1) - 1)
        except Exception:  # noqa: BLE001 - such as ids of shape (S,)
            positions = None
    return replace(names, mask=names.mask if form else None, mask_form=form or MaskForm(), positions=positions)


@evidence
def untouched_model(subject: Subject) -> Model:
    """The model with its weights as they are."""
    return _ready(copy.deepcopy(subject.module).eval(), subject)


def _turned_back(output: Tensor) -> Tensor:
    return output.transpose(0, 1) if output.ndim >= 3 else output


def never_run(subject: Subject) -> Model:
    """Another copy of `model`, with the same weights, in which no call has left anything."""
    probe = copy.copy(model(subject))
    probe.module = copy.deepcopy(subject.module).eval()
    if not subject.trained:
        redraw(probe.module)
    return probe


def _by_place(value: Any, sample: Tensor) -> bool:
    """Whether an argument has one number for each place of the content, and no more axes."""
    return isinstance(value, Tensor) and value.shape == sample.shape[:2]


def _need(name: str | None, what: str) -> str:
    if name is None:
        raise MissingEvidence(f"the forward takes no {what} (batch, sequence)")
    return name


def stated_limit(subject: Subject) -> int | None:
    """The number of positions that a table holds or the config states, whichever is less."""
    config = attempt(lambda s: s.config, subject) or {}
    lengths = [claim.options.get("max_length") for claim in claims(subject)]
    lengths += [config.get(key) for key in LENGTH]
    return min((n for n in lengths if isinstance(n, int) and n > 0), default=None)
