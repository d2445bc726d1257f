"""PE613: an ONNX graph that is right at the length it was exported at, and nowhere else."""

from collections.abc import Iterator

from gnomon.adapters.onnx.graph import Graph
from gnomon.adapters.subject import Subject
from gnomon.doctor.check import check
from gnomon.doctor.evidence.base import attempt
from gnomon.doctor.evidence.calling import untouched_model
from gnomon.report.document import Finding, Measured


@check("PE613", "graph-of-one-length", severity="warning", needs=("graph",))
def graph_of_one_length(subject: Subject) -> Iterator[Finding | Measured]:
    """An exported graph has its length or its batch built in.

    Why: an exporter that sees one example writes its sizes into the graph: positions 0 to 5 as a constant, a mask of 6
    x 6, a reshape to (1, 6, ...). The declared inputs may still be of any length; the graph then fails, or adds the
    positions of another length by broadcasting.

    Fix: export with the batch and the length left open (`dynamic_shapes`), and derive positions from the shape of the
    input or from the mask, not from the example's length. A server that pads to one length may want it fixed.

    Sources: pytorch 20075 and 117209, optimum 1381.
    """
    graph: Graph = subject.get("graph")
    content = graph.content
    fixed = {i: n for i, n in enumerate(content.shape[:2] if content else ()) if isinstance(n, int)}
    yield Measured("sizes of the content that are fixed", str(content.shape if content else ()), None, "batch, length")
    if content is not None and fixed:
        names = " and ".join(f"{('batch', 'length')[i]} {n}" for i, n in fixed.items())
        yield Finding(
            content.name,
            f"the graph takes {content.name} {content.shape}: {names} only",
            "export with dynamic_shapes that leave batch and length open",
            {"fixed": list(fixed.values())},
        )
        return
    probe = attempt(untouched_model, subject)
    if probe is None:
        return
    lengths = [probe.length(n) for n in (5, 9, 12)]
    yield Measured("lengths that the graph runs at", str(sorted(set(lengths))), None, "of 5, 9 and 12")
    if len(set(lengths)) == 1:
        yield Finding(
            content.name if content else "the graph",
            f"its inputs may have any length, but it runs only at {lengths[0]} tokens: positions or a mask are fixed",
            "derive positions from the shape of the input when exporting, not from the example's length",
            {"length": lengths[0]},
            severity="error",
        )
