"""The hooks of many encodings as one graph, so that one export serves the tests of all their forms."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import jaxtyping
import onnxruntime
import torch
from torch import Tensor, nn

from gnomon.encodings.base import PositionEncoding
from gnomon.exporting.graphs.base import Graph
from gnomon.exporting.result import Case

HEADS, HEAD_DIM = 2, 8


class HookGraph(Graph):
    """x (B, S, 16), q and k (B, 2, S, 8), positions (B, S) and coordinates (B, S, 3) to all that the hooks give."""

    def __init__(self, encodings: Mapping[str, PositionEncoding]) -> None:
        super().__init__()
        self.encodings = nn.ModuleDict(encodings)
        self.names = tuple(encodings)
        self.inputs = ("x", "q", "k", "positions", "coordinates")
        self.outputs = tuple(self.named(*self.draw(Case(2, 3), seed=0).values()))

    def forward(self, *tensors: Tensor) -> tuple[Tensor, ...]:
        return tuple(self.named(*tensors).values())

    def named(self, x: Tensor, q: Tensor, k: Tensor, positions: Tensor, coordinates: Tensor) -> dict[str, Tensor]:
        """What each hook gives, where it is not what it was given."""
        found: dict[str, Tensor] = {}
        visible = (positions[:, None, :] <= positions[:, :, None])[:, None]
        for name in self.names:
            encoding = self.encodings[name]
            assert isinstance(encoding, PositionEncoding)
            at = positions if encoding.axes == 1 else coordinates
            told = (visible,) if encoding.needs_visible else ()
            results = {
                "embed": encoding.embed(x, at) if _embeds(encoding) else x,
                "query": encoding.rotate_query(q, at),
                "key": encoding.rotate_key(k, at),
                "bias": encoding.bias(at, at),
                "content": encoding.content_bias(q, k, at, at, *told),
            }
            found |= {f"{name}.{hook}": v for hook, v in results.items() if v is not None and v is not x}
        return {name: v for name, v in found.items() if v is not q and v is not k}

    def draw(self, case: Case, seed: int) -> dict[str, Tensor]:
        generator = torch.Generator().manual_seed(seed)
        shape = (case.batch, HEADS, case.length, HEAD_DIM)
        positions = case.first + torch.arange(case.length).expand(case.batch, -1)
        padding = (case.padding - torch.arange(case.batch)).clamp_min(0)[:, None]
        positions = (positions - padding).clamp_min(0)
        along = torch.stack((positions, positions // 2, positions % 3), dim=-1)
        return {
            "x": torch.randn(case.batch, case.length, HEADS * HEAD_DIM, generator=generator),
            "q": torch.randn(shape, generator=generator),
            "k": torch.randn(shape, generator=generator),
            "positions": positions,
            "coordinates": torch.where((positions == 1)[..., None], -1, along),
        }

    def open_sizes(self, name: str) -> dict[int, str]:
        return {0: "batch", 2 if name in ("q", "k") else 1: "sequence"}


def _embeds(encoding: PositionEncoding) -> bool:
    return getattr(encoding, "dim", HEADS * HEAD_DIM) == HEADS * HEAD_DIM


def run(path: Path, given: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The outputs of a graph in onnxruntime, by name. Inputs that the graph does not have are left out."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    names = [port.name for port in session.get_inputs()]
    results = session.run(None, {name: given[name].numpy() for name in names})
    return {port.name: torch.from_numpy(v) for port, v in zip(session.get_outputs(), results, strict=True)}


@contextmanager
def unchecked_annotations() -> Iterator[None]:
    """Without the checker of shapes, which reads sizes that a graph leaves open, and so fixes them."""
    before = jaxtyping.config.jaxtyping_disable
    jaxtyping.config.update("jaxtyping_disable", True)
    try:
        yield
    finally:
        jaxtyping.config.update("jaxtyping_disable", before)
