"""A module that runs an ONNX graph with onnxruntime, and is called like any other."""

import inspect
from typing import Any, final

import numpy as np
import torch
from torch import Tensor, nn

from gnomon.adapters.onnx.graph import Graph, Port
from gnomon.adapters.subject import MissingEvidence
from gnomon.adapters.wording import said

FILLED = ("attention_mask", "position_ids", "token_type_ids")  #: inputs that a caller may leave out, as runtimes do
FIRST = ("logits", "last_hidden_state")


@final
class OnnxModule(nn.Module):
    """Forward arguments are the graph's inputs by name; results are a dictionary of its outputs, logits first.

    Left out: a mask is all ones, position ids are counted from the mask, token types are 0, caches are empty.
    """

    def __init__(self, graph: Graph) -> None:
        super().__init__()
        content = graph.content
        if content is None:
            names = ", ".join(port.name for port in graph.inputs)
            raise MissingEvidence(f"the graph has no input of token ids (batch, sequence) or vectors; it has {names}")
        if isinstance(content.shape[0], int):
            raise MissingEvidence(
                f"the graph takes batches of {content.shape[0]} only; export it with an open batch to run the probes"
            )
        self.graph, self.content = graph, content.name
        self.session = _session(graph)
        self.forward = _described(self._run, graph)  # type: ignore[method-assign]

    def __deepcopy__(self, memo: dict[int, Any]) -> "OnnxModule":
        """A session keeps no state between runs, so a copy shares it: the file is not read again."""
        other = OnnxModule.__new__(OnnxModule)
        nn.Module.__init__(other)
        other.graph, other.content, other.session = self.graph, self.content, self.session
        other.forward = _described(other._run, self.graph)  # type: ignore[method-assign]
        return other.train(self.training)

    def _run(self, *args: Tensor, **given: Tensor | None) -> dict[str, Tensor]:
        names = [port.name for port in self.graph.inputs]
        arguments = {**dict(zip(names, args, strict=False)), **{k: v for k, v in given.items() if v is not None}}
        batch, length = arguments[self.content].shape[:2]
        feeds = {port.name: self._fed(port, arguments, batch, length) for port in self.graph.inputs}
        results = self.session.run(None, feeds)
        named = dict(zip((port.name for port in self.graph.outputs), map(torch.from_numpy, results), strict=True))
        return {name: named[name] for name in sorted(named, key=lambda name: name not in FIRST)}

    def _fed(self, port: Port, arguments: dict[str, Tensor], batch: int, length: int) -> Any:
        if port.name in arguments:
            values: Any = arguments[port.name].detach().cpu().numpy()
            with np.errstate(invalid="ignore"):  # an additive mask, tried on an input of integers
                return np.ascontiguousarray(values.astype(port.dtype))
        if port.name == "attention_mask":
            return np.ones((batch, length), dtype=port.dtype)
        if port.name == "position_ids":
            mask = arguments.get("attention_mask", torch.ones(batch, length))
            counted = (mask.long().cumsum(1) - 1).clamp(min=0).numpy()
            return counted.astype(port.dtype)
        if port.name == "token_type_ids":
            return np.zeros((batch, length), dtype=port.dtype)
        sizes = [batch if i == 0 else n if isinstance(n, int) else 0 for i, n in enumerate(port.shape)]
        if port.name.startswith("past_key_values"):
            return np.zeros(sizes, dtype=port.dtype)
        raise ValueError(f"the graph wants {port.name} {port.shape}, which was not given")


def _session(graph: Graph) -> Any:
    try:
        import onnxruntime
    except ImportError:
        raise MissingEvidence("onnxruntime runs ONNX graphs; pip install 'gnomon[onnx]'") from None
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = torch.get_num_threads()
    try:
        return onnxruntime.InferenceSession(str(graph.path), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # noqa: BLE001 - onnxruntime's errors have no common base
        raise MissingEvidence(f"onnxruntime cannot load the graph: {said(error)}") from None


def _described(run: Any, graph: Graph) -> Any:
    """`run` as a function whose signature names the graph's inputs; all but the content may be left out."""

    def forward(*args: Tensor, **given: Tensor | None) -> dict[str, Tensor]:
        result: dict[str, Tensor] = run(*args, **given)
        return result

    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    names = sorted(
        (port.name for port in graph.inputs), key=lambda name: graph.content is None or name != graph.content.name
    )
    parameters = [inspect.Parameter(names[0], kind)]
    parameters += [inspect.Parameter(name, kind, default=None) for name in names[1:] if name.isidentifier()]
    forward.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return forward
