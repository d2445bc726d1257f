"""How to call a model nobody described: which argument is which, a private copy, and one tensor out."""

import copy
import inspect
from dataclasses import dataclass
from typing import Any, final

import torch
from torch import Tensor, nn

from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.doctor.evidence.base import attempt, claims, evidence
from gnomon.doctor.evidence.redraw import redraw

CONTENT = ("input_ids", "ids", "tokens", "token_ids", "idx", "x", "inputs", "input", "inputs_embeds", "hidden_states")
MASK = ("attention_mask", "padding_mask", "mask")
POSITIONS = ("position_ids", "positions", "input_pos")
CACHE = ("cache", "past_key_values")
LENGTH_KEYS = ("max_position_embeddings", "n_positions", "n_ctx", "max_seq_len")
OUTPUTS = ("logits", "last_hidden_state", "hidden_states")
LONGEST_PROBE = 4096  # tokens; a longer forward costs minutes on a CPU
FURTHEST = 16_384  # the furthest position id tried; float32 angles are good to 2e-3 there


@dataclass(frozen=True)
class Signature:
    """The names a model's forward uses for what the probes need; None: it has no such argument."""

    content: str
    mask: str | None
    positions: str | None
    cache: str | None
    use_cache: bool


@final
class Model:
    """A private copy of the subject's module in eval mode, called by meaning instead of by name.

    Content is token ids (B, S) int64, or vectors (B, S, W) when the model takes no ids. Results are (B, S, ...).
    """

    def __init__(self, module: nn.Module, signature: Signature, example: dict[str, Any], limit: int | None) -> None:
        self.module = module
        self.signature = signature
        self.limit = min(limit or LONGEST_PROBE, LONGEST_PROBE)
        self.furthest = min(limit or FURTHEST, FURTHEST)
        self._sample: Tensor = example[signature.content]
        self._fixed = {k: v for k, v in example.items() if not isinstance(v, Tensor)}
        self.takes_ids = not self._sample.is_floating_point()
        self.vocabulary = _vocabulary(module, self._sample) if self.takes_ids else 0

    @property
    def device(self) -> torch.device:
        return self._sample.device

    def draw(self, batch: int, length: int, seed: int = 0) -> Tensor:
        """Random content: ids that avoid the first few (padding and other special tokens), or N(0, 1) vectors."""
        generator = torch.Generator().manual_seed(seed)
        if not self.takes_ids:
            return torch.randn(batch, length, self._sample.shape[-1], generator=generator).to(self._sample)
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
        arguments = {**self._fixed, names.content: content, **more}
        if mask is not None:
            arguments[_need(names.mask, "an attention mask argument")] = mask
        if positions is not None:
            arguments[_need(names.positions, "a position ids argument")] = positions
        return self.module(**arguments)

    def length(self, wanted: int) -> int:
        """`wanted`, or the longest length the model takes."""
        return min(wanted, self.limit)


@evidence
def model(subject: Subject) -> Model:
    """The model, ready to be probed. Untrained weights are redrawn: default initialisation hides position faults."""
    if subject.trained:
        return untouched_model(subject)
    module = copy.deepcopy(subject.module).eval()
    redraw(module)
    return _ready(module, subject)


def _ready(module: nn.Module, subject: Subject) -> Model:
    """Wrap, and run once: a model that cannot run gives no evidence, and says why."""
    example = subject.example
    probe = Model(module, read_signature(module, example), example, _stated_limit(subject))
    content = probe.draw(2, probe.length(5))
    try:
        probe(content)
    except MissingEvidence:
        raise
    except Exception as error:
        reason = str(error).strip().split("\n")[0]
        raise MissingEvidence(
            f"the forward fails on content of shape {tuple(content.shape)}: {type(error).__name__}: {reason}"
        ) from error
    return probe


@evidence
def untouched_model(subject: Subject) -> Model:
    """The model with its weights as they are."""
    return _ready(copy.deepcopy(subject.module).eval(), subject)


def read_signature(module: nn.Module, example: dict[str, Any]) -> Signature:
    """Which argument is which, by the names the field uses; raises MissingEvidence when there is no content."""
    parameters = list(inspect.signature(module.forward).parameters)
    tensors = [key for key, value in example.items() if isinstance(value, Tensor) and value.ndim >= 2]
    content = next((n for n in CONTENT if n in tensors), tensors[0] if tensors else None)
    if content is None:
        raise MissingEvidence("the example has no batch of token ids or vectors to vary")

    def first(names: tuple[str, ...]) -> str | None:
        return next((name for name in names if name in parameters and name != content), None)

    return Signature(content, first(MASK), first(POSITIONS), first(CACHE), "use_cache" in parameters)


def main_output(result: Any) -> Tensor:
    """The tensor (B, S, ...) among what a forward returned: logits, else hidden states, else the first tensor."""
    for name in OUTPUTS:
        value = getattr(result, name, None)
        if isinstance(value, Tensor):
            return value
    candidates = (
        result.values() if isinstance(result, dict) else result if isinstance(result, tuple | list) else [result]
    )
    for value in candidates:
        if isinstance(value, Tensor) and value.is_floating_point():
            return value
    raise MissingEvidence(f"forward returned {type(result).__name__} without a float tensor")


def _need(name: str | None, what: str) -> str:
    if name is None:
        raise MissingEvidence(f"the model's forward has no {what}")
    return name


def _vocabulary(module: nn.Module, sample: Tensor) -> int:
    sizes = [m.num_embeddings for m in module.modules() if isinstance(m, nn.Embedding)]
    return sizes[0] if sizes else int(sample.max()) + 1


def _stated_limit(subject: Subject) -> int | None:
    """The number of positions that a table holds or the config states, whichever is less."""
    config = attempt(lambda s: s.config, subject) or {}
    lengths = [claim.options.get("max_length") for claim in claims(subject)]
    lengths += [config.get(key) for key in LENGTH_KEYS]
    return min((n for n in lengths if isinstance(n, int) and n > 0), default=None)
