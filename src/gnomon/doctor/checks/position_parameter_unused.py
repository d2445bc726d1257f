"""PE504: a trainable position parameter that a step may leave without a gradient."""

from collections.abc import Iterator

from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.doctor.check import check
from gnomon.doctor.evidence.backward import LENGTHS, backward
from gnomon.doctor.evidence.calling import model
from gnomon.report.document import Finding, Measured


@check("PE504", "position-parameter-unused", severity="warning", needs=(backward,))
def position_parameter_unused(subject: Subject) -> Iterator[Finding | Measured]:
    """A trainable parameter of positions takes part in one training step and not in the next, or in none.

    Why: a table that is cached after the first call is fresh for one step and detached afterwards, so its gradient
    comes and goes; training on several devices then stops with "parameters that were not used in producing loss" at the
    step that hits the cache, or hangs. On one device the parameter is trained only now and then, without a word.

    Fix: build the table from the parameter in every forward (or set requires_grad to False and register a buffer when
    nothing is to be learned).

    Sources: lucidrains/rotary-embedding-torch issue 37, openvpi/DiffSinger issue 244.
    """
    found, limit = backward(subject), model(subject).tolerance
    if found.failure:
        raise MissingEvidence(f"the backward pass fails: {found.failure} (PE503)")
    for reached in found.reached:
        steps = sum(reached.in_graph)
        yield Measured(
            f"steps in which {reached.name} has a gradient", steps, len(reached.in_graph), f"lengths {LENGTHS}"
        )
        if 0 < steps < len(reached.in_graph):
            yield Finding(
                reached.name,
                f"it has a gradient in {steps} of {len(reached.in_graph)} steps: a cached table bypasses the parameter",
                "build the table from the parameter in every forward, or make it a buffer that asks for no gradient",
                {"steps": len(reached.in_graph), "with a gradient": steps},
                severity="error",
            )
        elif not steps and reached.around and reached.effect <= limit:
            yield Finding(
                reached.name,
                "it asks for a gradient, but no step gives it one: the outputs do not go through it",
                "use the parameter in the forward, or set requires_grad to False and register a buffer",
                {"steps": len(reached.in_graph), "with a gradient": 0},
            )
