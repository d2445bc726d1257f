"""What the forward on these arguments leaves alone: towers that are not run, and tables that start at zero."""

from torch import nn

from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.doctor.evidence.base import attempt, evidence
from gnomon.doctor.evidence.calling import model
from gnomon.doctor.evidence.tables import Table, position_tables


@evidence
def called(subject: Subject) -> frozenset[str]:
    """The paths of the modules that one forward calls."""
    probe, paths = model(subject), set[str]()
    handles = [
        part.register_forward_pre_hook(lambda *_, path=path: paths.add(path))
        for path, part in probe.module.named_modules()
    ]
    try:
        probe(probe.draw(2, 0 if probe.takes_images else probe.length(5)))
    finally:
        for handle in handles:
            handle.remove()
    return frozenset(paths)


def is_idle(subject: Subject, name: str) -> bool:
    """Whether the part that a tensor stands in is not run, as the image tower of a model that is given text alone.

    False where no model runs.
    """
    around = part_of(name)
    paths = attempt(called, subject)
    return paths is not None and bool(around) and not any(f"{path}.".startswith(around) for path in paths)


def part_of(name: str) -> str:
    """The path of the module around the one that holds a parameter, with a dot.

    An encoding that is never called stands in a part that is run.

    >>> part_of("vision.embeddings.position.weight"), part_of("positions.weight")
    ('vision.embeddings.', '')
    """
    path = name.rsplit(".", 2)
    return f"{path[0]}." if len(path) > 2 else ""


def running_position_tables(subject: Subject) -> tuple[Table, ...]:
    """The tables of positions in the parts that a forward runs; empty when there are none."""
    return tuple(t for t in attempt(position_tables, subject) or () if not is_idle(subject, t.name))


def starts_at_zero(subject: Subject) -> bool:
    """Whether a table of positions is a parameter that training has yet to move from zero, as in many image models."""
    if subject.trained:
        return False
    try:
        module: nn.Module = subject.module
    except MissingEvidence:
        return False
    names = {table.name for table in attempt(position_tables, subject) or ()}
    bare = ((n, p) for n, p in module.named_parameters() if n in names and not n.endswith(".weight"))
    return any(parameter.requires_grad and not bool(parameter.any()) for _, parameter in bare)
