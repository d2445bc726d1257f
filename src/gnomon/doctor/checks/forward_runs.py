"""PE310: the forward does not run, so that nothing that runs a model could be examined."""

from collections.abc import Iterator

from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.doctor.check import check
from gnomon.doctor.evidence.base import attempt
from gnomon.doctor.evidence.calling import model
from gnomon.doctor.evidence.component import component
from gnomon.doctor.evidence.example_run import OutOfRange, Uneven, failure_of_example
from gnomon.report.document import Finding, Measured


@check("PE310", "forward-runs", severity="error", needs=("module",))
def forward_runs(subject: Subject) -> Iterator[Finding | Measured]:
    """The model could not be run, so none of the checks that run a model has examined it.

    Why: a report in which nothing ran looks clean. Either the forward is broken, or it needs other arguments than the
    ones that were drawn for it (token ids of shape (batch, sequence) for the first nn.Embedding), or the arguments that
    were given leave the tables they index, or do not agree in length.

    Fix: give the arguments of one working call: `(module, example)` from the factory, or `example={...}` to
    gnomon.diagnose; the first is ids (batch, sequence), vectors (batch, sequence, width) or images (batch, channels,
    height, width). Sequence-first models (sequence, batch, ...) are recognised and turned around.

    Sources: gnomon's own rule that not applicable never counts as passed; microsoft/unilm#771 (boxes outside their
    table), hiyouga/LlamaFactory#10782 (ids padded, and position ids not).
    """
    if not subject.has("module"):
        raise MissingEvidence("there is no model to run")
    _ = subject.module  # a model that cannot be loaded is not applicable, with its own reason
    broken = list(_example(subject))
    yield from broken
    try:
        ran = model(subject)
    except MissingEvidence as reason:
        alone = attempt(component, subject)
        if alone is not None:
            yield Measured("a bare position module, called as", alone.called, None, "found by trying")
            return
        if broken:
            return
        yield Finding(
            "the forward",
            str(reason),
            "give a working example of the forward's arguments: (module, example)",
        )
        return
    output = ran(ran.draw(2, 0 if ran.takes_images else ran.length(5)))
    yield Measured("shape of the output", ", ".join(map(str, output.shape)), None, "it runs")
    if not ran.takes_images:
        axis = 0 if ran.signature.sequence_first else 1
        yield Measured("axis of the sequence", axis, None, "found by changing one token; 0 is sequence-first")


def _example(subject: Subject) -> Iterator[Finding]:
    """Numbers of the example that leave their tables, and arguments that are longer or shorter than the content."""
    failure = attempt(failure_of_example, subject)
    if isinstance(failure, OutOfRange):
        number = failure.smallest if failure.smallest < 0 else failure.largest
        yield Finding(
            f"the argument {failure.argument}",
            f"{failure.argument} holds {number}, and {failure.table} has rows 0 to {failure.rows - 1}",
            f"bring {failure.argument} into 0 to {failure.rows - 1} (coordinates are scaled to the table's range, as "
            "0 to 1000), or give the table more rows",
            {"number": number, "rows": failure.rows},
        )
    elif isinstance(failure, Uneven):
        yield Finding(
            f"the argument {failure.argument}",
            f"{failure.argument} has {failure.length} places and {failure.content} has {failure.places}",
            f"pad or cut every argument with a number for each token to the same {failure.places} places",
            {"places": failure.length, "content": failure.places},
        )
