"""`diagnose` and `inspect`: from a target to a report."""

from collections.abc import Iterable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch
from torch import nn

from gnomon.adapters import load_subject
from gnomon.adapters.subject import RAW
from gnomon.doctor.evidence.base import DERIVED
from gnomon.doctor.evidence.found import found_encodings
from gnomon.doctor.figures import figures
from gnomon.doctor.runner import Progress, chosen, run_all
from gnomon.errors import GnomonError
from gnomon.report.document import Report

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
    progress: Progress | None = None,
    **evidence: Any,
) -> Report:
    """Examine a model, folder, config or file for faults in its position encoding.

    `select` and `ignore` are prefixes of check codes. `evidence` overrides what the adapters give, by name
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
        results = run_all(checks, subject, progress)
        return Report(subject.target, found_encodings(subject), results, figures(subject), version("gnomon"))


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
