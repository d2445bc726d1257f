"""Exports a model to ONNX at one length and runs the graph at others, beside the model itself."""

import tempfile
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor, nn

from gnomon.adapters.onnx.graph import read_graph
from gnomon.adapters.onnx.module import OnnxModule
from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.doctor.evidence.base import evidence
from gnomon.doctor.evidence.calling import Model, model
from gnomon.doctor.evidence.deployment.copies import replica
from gnomon.doctor.evidence.noise import difference
from gnomon.doctor.evidence.signature import main_output
from gnomon.exporting.tracing import cause, quietly

AT, OTHER, BATCH = 6, 9, 2


@dataclass(frozen=True)
class Exported:
    """The length exported at, and for each run (batch, length) how far the graph is from the model; None: it fails.

    `failure`: why there is no graph. `inputs`: what it takes.
    """

    at: int
    runs: dict[tuple[int, int], float | None]
    failure: str
    inputs: tuple[str, ...]


@evidence
def exported(subject: Subject) -> Exported:
    """Exports with the length and the batch left open; raises MissingEvidence without onnx and onnxruntime."""
    if subject.has("graph"):
        raise MissingEvidence("the target is an exported graph already (PE613)")
    try:
        import onnxruntime  # noqa: F401
        import onnxscript  # noqa: F401
    except ImportError:
        raise MissingEvidence("pip install 'gnomon[onnx]' exports and runs ONNX graphs") from None
    probe = model(subject)
    at, other = probe.length(AT), probe.length(OTHER)
    if other <= at:
        raise MissingEvidence(f"the model takes {other} places; two lengths are needed")
    with tempfile.TemporaryDirectory() as folder, quietly():
        path = Path(folder) / "model.onnx"
        try:
            _export(probe, probe.draw(BATCH, at, seed=76), path)
        except Exception as error:  # noqa: BLE001 - the exporter raises what it likes
            return Exported(at, {}, cause(error), ())
        graph = OnnxModule(read_graph(path))
        runs = {(b, n): _apart(probe, graph, b, n) for b, n in ((BATCH, at), (BATCH, other), (BATCH + 1, other))}
        return Exported(at, runs, "", tuple(port.name for port in graph.graph.inputs))


class _Plain(nn.Module):
    """The model as a function of its content alone, for an exporter that wants tensors in and out."""

    def __init__(self, probe: Model) -> None:
        super().__init__()
        self.inner = probe.module
        self.probe = [probe]

    def forward(self, input_ids: Tensor) -> Tensor:
        return main_output(self.probe[0].forward(input_ids))


def _export(probe: Model, content: Tensor, path: Path) -> None:
    plain = _Plain(replica(probe)).eval()
    plain.probe[0].module = plain.inner
    sizes = ({0: torch.export.Dim.AUTO, 1: torch.export.Dim.AUTO},)
    with torch.no_grad():
        program = torch.onnx.export(plain, (content,), dynamo=True, dynamic_shapes=sizes, verbose=False)
    if program is None:
        raise RuntimeError("the exporter gave no program")
    program.save(str(path))


def _apart(probe: Model, graph: OnnxModule, batch: int, length: int) -> float | None:
    content = probe.draw(batch, length, seed=77)
    try:
        found = main_output(graph(content))
    except Exception:  # noqa: BLE001 - onnxruntime's errors have no common base
        return None
    right = probe(content)
    return difference(found.float(), right.float()) if found.shape == right.shape else float("inf")
