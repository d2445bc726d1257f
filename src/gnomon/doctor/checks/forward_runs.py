"""PE310: the forward does not run, so that nothing that runs a model could be examined."""

from collections.abc import Iterator

from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.doctor.check import check
from gnomon.doctor.evidence.calling import model
from gnomon.report.document import Finding, Measured


@check("PE310", "forward-runs", severity="error", needs=("module",))
def forward_runs(subject: Subject) -> Iterator[Finding | Measured]:
    """The model could not be run, so none of the checks that run a model has examined it.

    Why: a report in which nothing ran looks clean. Either the forward is broken, or it needs other arguments than the
    ones that were drawn for it (token ids of shape (batch, sequence) for the first nn.Embedding).

    Fix: give the arguments of one working call: `(module, example)` from the factory, or `example={...}` to
    gnomon.diagnose; the first is ids (batch, sequence) or vectors (batch, sequence, width). Models of another kind
    (images, several inputs of other shapes) need a small wrapper that takes one of the two.

    Sources: gnomon's own rule that not applicable never counts as passed.
    """
    if not subject.has("module"):
        raise MissingEvidence("there is no model to run")
    _ = subject.module  # a model that cannot be loaded is not applicable, with its own reason
    try:
        ran = model(subject)
    except MissingEvidence as reason:
        yield Finding(
            "the forward",
            str(reason),
            "give a working example of the forward's arguments: (module, example)",
        )
        return
    yield Measured("tokens in the longest forward so far", ran.length(5), None, "it runs")
