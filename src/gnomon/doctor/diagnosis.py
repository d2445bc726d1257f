"""`diagnose` and `inspect`: from a target to a report."""

from collections.abc import Iterable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch
from torch import nn

from gnomon.adapters import load_subject
from gnomon.adapters.subject import RAW, MissingEvidence, Subject
from gnomon.doctor.causes.rule import join
from gnomon.doctor.causes.rules import RULES
from gnomon.doctor.evidence.base import DERIVED, attempt
from gnomon.doctor.evidence.found import found_encodings
from gnomon.doctor.evidence.trace import trace
from gnomon.doctor.figures import figures
from gnomon.doctor.locations import located
from gnomon.doctor.runner import Progress, chosen, run_all
from gnomon.errors import GnomonError, UnsupportedTargetError
from gnomon.report.document import CheckResult, Report

Target = str | Path | nn.Module | tuple[nn.Module, Any]


def diagnose(
    target: Target,
    select: str | Iterable[str] | None = None,
    ignore: str | Iterable[str] | None = None,
    *,
    device: str | None = None,
    dtype: str | None = None,
    forward: bool = True,
    allow_pickle: bool = False,
    thorough: bool = False,
    progress: Progress | None = None,
    **evidence: Any,
) -> Report:
    """Examine a model, folder, config or file for faults in its position encoding.

    `select` and `ignore` are prefixes of check codes. Checks that take many seconds run when they are selected, or when
    the examination is to be `thorough`. `evidence` overrides what the adapters give, by name
    (`trained=True`, `config={...}`, `example={...}`), or adds what nothing else says (`causal=True`: the model is meant
    to look only backwards). Raises a GnomonError when the target cannot be read or a name is unknown.

    >>> from gnomon.encodings import ALiBi
    >>> from gnomon.models import Decoder, ModelOptions
    >>> report = diagnose(Decoder(ModelOptions(vocabulary=32, dim=16, num_heads=2, num_layers=1), encoding=ALiBi(2)))
    >>> report.ok
    True
    """
    checks = chosen(select, ignore)
    subject = load_subject(target, device=device, dtype=dtype, allow_pickle=allow_pickle, forward=forward)
    if unknown := sorted(set(evidence) - RAW - DERIVED):
        raise GnomonError(
            f"There is no evidence called {', '.join(unknown)}; known: {', '.join(sorted(RAW | DERIVED))}."
        )
    if evidence:
        subject = subject.with_evidence(**evidence)
    # A fixed seed and the caller's generator left as it was: the same target gives the same report.
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        results = run_all(checks, subject, progress, heavy=thorough or select is not None)
        found = found_encodings(subject)
        if select is None and ignore is None and not found:
            _require_attention(subject, results)
        results = located(results, subject)
        causes = join(results, RULES)
        return Report(subject.target, found, results, figures(subject), version("gnomon"), causes)


def _require_attention(subject: Subject, results: tuple[CheckResult, ...]) -> None:
    """Refuse a model in which there is nothing to examine: no encoding, no attention that would need one, no fault."""
    failed = [check for check in results if check.status == "failed"]
    seen = attempt(trace, subject)
    if not subject.has("module") or (seen and seen.attentions) or any(check.code != "PE310" for check in failed):
        return
    why = ", and no attention that would need one"
    if failed:
        why = f": {failed[0].findings[0].message}"
    elif not seen:
        why = f": {_why_nothing_is_claimed(subject)}"
    raise UnsupportedTargetError(f"No position encoding was found in {subject.target}{why}.")


def _why_nothing_is_claimed(subject: Subject) -> str:
    try:
        return "nothing is claimed" if not subject.claims else "what is claimed cannot be examined"
    except MissingEvidence as reason:
        return str(reason)


def inspect(
    target: Target,
    *,
    device: str | None = None,
    dtype: str | None = None,
    forward: bool = True,
    allow_pickle: bool = False,
) -> Report:
    """Which encoding is where, with its numbers and without judgement: a report that has no checks."""
    subject = load_subject(target, device=device, dtype=dtype, allow_pickle=allow_pickle, forward=forward)
    return Report(subject.target, found_encodings(subject), (), (), version("gnomon"))
