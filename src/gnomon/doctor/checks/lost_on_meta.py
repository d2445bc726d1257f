"""PE603: a model that is built empty and loaded from its state dict lacks its tables."""

from collections.abc import Iterator

from gnomon.adapters.subject import Subject
from gnomon.doctor.check import check
from gnomon.doctor.evidence.calling import model
from gnomon.doctor.evidence.deployment.materialised import Materialised, materialised
from gnomon.report.document import Finding, Measured, Severity


@check("PE603", "lost-on-meta", severity="error", needs=(model, materialised))
def lost_on_meta(subject: Subject) -> Iterator[Finding | Measured]:
    """After a build on the meta device and a strict load, tables of positions hold whatever was in memory.

    Why: large models are built without memory and filled from their state dict. Frequencies and tables that are not in
    it come from nowhere: `load_state_dict(strict=True)` does not complain, and outputs are nonsense, or finite and
    wrong. Error where transformers' own loading does just that, warning where the module has a method to set itself up
    that forgets them, note where only its own constructor can.

    Fix: set derived tables in a method that loading calls (`reset_parameters`, in transformers `_init_weights`), or
    compute them from the config when called; after `to_empty` call it.

    Sources: transformers 34234, 45902 and 25555, executorch 19627. Measured on transformers 5.24: the frequencies of
    Llama are lost by `to_empty` and a strict load; `_init_weights`, which from_pretrained calls, brings them back.
    """
    found = materialised(subject)
    yield Measured("tables lost by to_empty and a strict load", len(found.lost), None, "what is not in the state dict")
    means = ", ".join(found.tried) or "nothing"
    yield Measured("of these, not restored by the module's own means", len(found.still), 0, f"called: {means}")
    if not found.still or found.effect <= model(subject).tolerance:
        return
    severity = _severity(subject, found)
    for name in found.still:
        yield Finding(name, _message(name, found), _fix(name, severity), _measured(name, found), severity)


def _severity(subject: Subject, found: Materialised) -> Severity:
    if hasattr(subject.module, "from_pretrained"):
        return "error"
    return "warning" if found.tried else "note"


def _message(name: str, found: Materialised) -> str:
    finite = found.effect < float("inf")
    effect = f"outputs change by {found.effect:.2g} of their size" if finite else "outputs are NaN"
    means = f" {found.tried[0]} does not restore it:" if found.tried else ""
    return f"{name} is not in the state dict and is lost by to_empty and a strict load:{means} {effect}"


def _fix(name: str, severity: Severity) -> str:
    owner, _, own = name.rpartition(".")
    method = {"error": "_init_weights", "warning": "that method", "note": "a reset_parameters method"}[severity]
    return f"compute {own} of {owner or 'the module'} in {method}, and call it after to_empty (right: see measured)"


def _measured(name: str, found: Materialised) -> dict[str, object]:
    return {"effect": found.effect, "right values": found.right.get(name, [])}
