"""Any module whose forward takes a sequence of token ids or vectors, by the names of its arguments."""

import inspect
from collections.abc import Mapping
from typing import Any, Final, final

import torch
from torch import Tensor, nn

from gnomon.adapters.example import bind_example, draw_example, forward_signature
from gnomon.adapters.subject import MissingEvidence
from gnomon.adapters.wording import said
from gnomon.errors import UnsupportedTargetError
from gnomon.exporting.graphs.base import Graph, counted, left_padded
from gnomon.exporting.result import Case

ADDED: Final = ("attention_mask", "position_ids")  #: inputs of the graph wherever forward takes them
LIMITS: Final = ("max_position_embeddings", "n_positions", "max_seq_len")
FLOAT_MASKS: Final = ("xlnet",)  #: model types whose code subtracts the mask from 1.0, which traces for floats alone
MAIN: Final = ("logits", "last_hidden_state")


@final
class ForeignGraph(Graph):
    """The tensors of the example, a mask and positions where forward takes them, to its logits or hidden states.

    Other arguments of the example stay as they are. A negative position that the model itself refuses, because it
    looks a table up, is one beyond its end in the graph, where ONNX would count it from the end.
    """

    def __init__(self, model: nn.Module, example: Any = None) -> None:
        super().__init__()
        self.model = model
        given = draw_example(model) if example is None else bind_example(model, example)
        tensors = {name: value for name, value in given.items() if isinstance(value, Tensor) and value.ndim > 0}
        self.fixed = {name: value for name, value in given.items() if name not in tensors}
        self.fixed |= {"use_cache": False} if "use_cache" in _parameters(model) else {}
        self.example = _sequences(tensors, type(model).__name__)
        added = [name for name in ADDED if name in _parameters(model) and name not in self.example]
        self.inputs = (*self.example, *added)
        self.outputs = ("last_hidden_state",)
        config = getattr(model, "config", None)
        self.limit = min(
            (n for key in LIMITS if isinstance(n := getattr(config, key, None), int) and n > 0), default=None
        )
        self.floats = getattr(config, "model_type", None) in FLOAT_MASKS
        self.beyond = 0
        self._look()

    def forward(self, *tensors: Tensor) -> tuple[Tensor, ...]:
        return (_main(self._call(dict(zip(self.inputs, tensors, strict=True))))[1],)

    def draw(self, case: Case, seed: int) -> dict[str, Tensor]:
        mask, generator = left_padded(case), torch.Generator().manual_seed(seed)
        made = {"attention_mask": mask, "position_ids": counted(mask, case)}
        drawn = {}
        for name in self.inputs:
            given = self.example.get(name)
            if given is None or name in ADDED:
                drawn[name] = made[name] if given is None else made[name].to(given.dtype)
                continue
            row, column = (torch.randint(0, n, size, generator=generator) for n, size in zip(
                given.shape[:2], ((case.batch, 1), (case.batch, case.length)), strict=True
            ))  # fmt: skip
            drawn[name] = given[row, column]
        return drawn

    def _call(self, named: dict[str, Tensor]) -> Any:
        if self.beyond:
            named["position_ids"] = torch.where(named["position_ids"] < 0, self.beyond, named["position_ids"])
        if self.floats and "attention_mask" in named:
            named["attention_mask"] = named["attention_mask"].to(next(self.model.parameters()).dtype)
        return self.model(**named, **self.fixed)

    @torch.no_grad()
    def _look(self) -> None:
        """Run once, for the name of the output, and once more at a negative position."""
        drawn = self.draw(Case(2, 3), seed=0)
        try:
            self.outputs = (_main(self._call(dict(drawn)))[0],)
        except Exception as error:  # noqa: BLE001  the user's code may raise anything
            raise UnsupportedTargetError(f"{type(self.model).__name__}.forward raised {said(error)}.") from None
        if self.has_positions:
            try:
                self._call(drawn | {"position_ids": torch.full_like(drawn["position_ids"], -1)})
            except Exception:  # noqa: BLE001
                self.beyond = torch.iinfo(torch.int32).max


def _parameters(model: nn.Module) -> Mapping[str, inspect.Parameter]:
    try:
        return forward_signature(model).parameters
    except MissingEvidence as missing:
        raise UnsupportedTargetError(f"This model cannot be exported: {missing}.") from None


def _sequences(tensors: dict[str, Tensor], model: str) -> dict[str, Tensor]:
    """The tensors, if all are (batch, length, ...) of the same batch and length."""
    shapes = {name: tuple(value.shape) for name, value in tensors.items()}
    if not shapes or any(len(shape) < 2 for shape in shapes.values()) or len({s[:2] for s in shapes.values()}) > 1:
        given = ", ".join(f"{name} {shape}" for name, shape in shapes.items()) or "none"
        raise UnsupportedTargetError(
            f"An export opens one batch and one length, so all tensors of the example are (batch, length, ...); "
            f"{model} takes {given}: export the part of it that does, or pass an example."
        )
    for name, shape in shapes.items():
        if 0 in shape[:2]:
            raise UnsupportedTargetError(
                f"{model} takes {name} {shape}: give an example of at least one row and one token."
            )
    return {name: value.detach().cpu() for name, value in tensors.items()}


def _main(result: Any) -> tuple[str, Tensor]:
    """The name and the tensor that matters among what a forward returned."""
    named = result if isinstance(result, Mapping) else {}
    for name in MAIN:
        if isinstance(named.get(name), Tensor):
            return name, named[name]
    values = result if isinstance(result, tuple | list) else (*named.values(), result)
    for value in values:
        if isinstance(value, Tensor):
            return "output", value
    raise TypeError(f"it returns {type(result).__name__} without a tensor")
