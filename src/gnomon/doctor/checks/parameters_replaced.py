"""PE516: a forward makes parameters anew."""

import copy
from collections.abc import Iterator

from torch import nn

from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.doctor.check import check
from gnomon.doctor.evidence.calling import model
from gnomon.report.document import Finding, Measured

LENGTHS = (5, 11, 19)


@check("PE516", "parameters-replaced", severity="error", needs=(model,))
def parameters_replaced(subject: Subject) -> Iterator[Finding | Measured]:
    """A forward adds or replaces parameters, as a cache of positions does that grows with the length.

    Why: the optimizer holds the parameters it was made with. A table that is made anew for a longer input is in no
    group and never trained, a checkpoint written afterwards has other shapes or names than the model that loads it, and
    data-parallel copies disagree about what there is to reduce.

    Fix: build the table once for the longest input, and keep what only depends on the length in a buffer with
    persistent=False or in a local variable.

    Sources: torch documentation of `nn.Module.register_buffer` and of optimizers (parameters are held by identity).
    """
    probe = copy.copy(model(subject))
    if probe.takes_images:
        raise MissingEvidence("the content is images of one size: no length to vary")
    lengths = tuple(dict.fromkeys(probe.length(n) for n in LENGTHS))  # found before the fresh copy has run
    probe.module = copy.deepcopy(subject.module).eval()
    before = _parameters(probe.module)
    for length in lengths:
        probe(probe.draw(2, length, seed=81))
        after = _parameters(probe.module)
        changed = [name for name, shape in after.items() if before.get(name) != shape]
        yield Measured(f"parameters made by a forward of {length} tokens", len(changed), 0, "made at construction")
        for name in changed:
            was = before[name][1] if name in before else None
            yield Finding(
                name,
                f"a forward of {length} tokens made it anew, of shape {after[name][1]}"
                + (f" (before: {was})" if was else ", where there was none"),
                "make it once at construction; keep what depends on the length in a buffer with persistent=False",
                {"length": length, "shape": str(after[name][1])},
            )
        if changed:
            return


def _parameters(module: nn.Module) -> dict[str, tuple[int, tuple[int, ...]]]:
    """Identity and shape of each parameter; `module` keeps them alive, so that no identity is used twice."""
    return {name: (id(p), tuple(p.shape)) for name, p in module.named_parameters(remove_duplicate=False)}
