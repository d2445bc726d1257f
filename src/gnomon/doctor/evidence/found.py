"""Which encoding is where: by the config's word, else by the tensors' numbers, else by what a forward did."""

from collections.abc import Iterator
from typing import Any

from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.doctor.evidence.base import attempt, claims, evidence
from gnomon.doctor.evidence.biases import bias_uses
from gnomon.doctor.evidence.component import component
from gnomon.doctor.evidence.expected import place
from gnomon.doctor.evidence.rotary import rotary_uses
from gnomon.doctor.evidence.sinusoid import fit_base, fit_sinusoid
from gnomon.doctor.evidence.tables import Table, tables
from gnomon.doctor.evidence.used import used_table
from gnomon.report.document import FoundEncoding


@evidence
def found_encodings(subject: Subject) -> tuple[FoundEncoding, ...]:
    """Every encoding found. A forward is run only when neither config nor tensors tell."""
    found = [*_claimed(subject), *_stored(subject)]
    return tuple(found) if found else tuple(_probed(subject))


def _claimed(subject: Subject) -> Iterator[FoundEncoding]:
    for claim in claims(subject):
        yield FoundEncoding(claim.kind, claim.where, claim.options, "config")


def _stored(subject: Subject) -> Iterator[FoundEncoding]:
    """Tables that no claim covers."""
    stored = attempt(tables, subject) or ()
    claimed = {found.kind for found in _claimed(subject)}
    for table in stored:
        kind = "rotary" if table.kind == "frequencies" else table.kind
        if table.claim is None and kind not in claimed:
            yield FoundEncoding(kind, place(table.name), _numbers(table), "weights")


def _numbers(table: Table) -> dict[str, Any]:
    rows, dims = table.values.shape
    if table.kind == "frequencies":
        base = fit_base(table.values[0])
        return {"rotary_dim": 2 * dims, "base": round(base[0], 4) if base and base[1] < 0.01 else "not one base"}
    if table.sinusoid is not None:
        fit = table.sinusoid
        return {"rows": rows, "dim": dims, "layout": fit.layout, "base": fit.base, "scale": round(fit.scale, 6)}
    return {"rows": rows, "dim": dims}


def _probed(subject: Subject) -> Iterator[FoundEncoding]:
    for probe in (_rotations, _biases, _added, _alone):
        try:
            yield from probe(subject)
        except MissingEvidence:
            continue


def _rotations(subject: Subject) -> Iterator[FoundEncoding]:
    for use in rotary_uses(subject):
        base = fit_base(abs(use.frequencies))
        options = {"rotary_dim": use.first.rotary_dim, "layout": use.first.layout, "layers": use.layers}
        yield FoundEncoding("rotary", use.where, {**options, "base": round(base[0], 2) if base else "unknown"}, "probe")


def _biases(subject: Subject) -> Iterator[FoundEncoding]:
    uses = bias_uses(subject)
    linear = all(use.curvature < 1e-3 for use in uses)
    slopes = [round(float(s), 6) for s in uses[0].slopes]
    options: dict[str, Any] = {"num_heads": len(slopes), "slopes": slopes} if linear else {"num_heads": len(slopes)}
    yield FoundEncoding("alibi" if linear else "score bias", place(uses[0].where), options, "probe")


def _added(subject: Subject) -> Iterator[FoundEncoding]:
    used = used_table(subject)
    fit = fit_sinusoid(used.values)
    if fit is None:
        yield FoundEncoding("added vectors", place(used.where), {"dim": used.values.shape[1]}, "probe")
    else:
        options = {"dim": used.values.shape[1], "layout": fit.layout, "base": fit.base, "scale": round(fit.scale, 6)}
        yield FoundEncoding("sinusoidal", place(used.where), options, "probe")


def _alone(subject: Subject) -> Iterator[FoundEncoding]:
    """A bare position module, by what it gives."""
    found = component(subject)
    kind = {"added": "added vectors", "rotation": "rotary", "bias": "score bias"}[found.kind]
    yield FoundEncoding(kind, "the module", {"called as": found.called}, "probe")
