"""`diagnose` and `inspect`: from a target to a report."""

from collections.abc import Iterable, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch
from torch import nn

from gnomon.adapters import load_subject
from gnomon.adapters.checkpoints.huggingface import config_evidence
from gnomon.adapters.subject import RAW, Absent, MissingEvidence, Subject
from gnomon.doctor.causes.rule import join
from gnomon.doctor.causes.rules import RULES
from gnomon.doctor.evidence.base import DERIVED, attempt
from gnomon.doctor.evidence.calling import model
from gnomon.doctor.evidence.found import found_encodings
from gnomon.doctor.evidence.trace import trace
from gnomon.doctor.figures import figures
from gnomon.doctor.given import require_sound, require_usable
from gnomon.doctor.locations import located
from gnomon.doctor.runner import Progress, chosen, run_all
from gnomon.doctor.threads import threads_for
from gnomon.errors import GnomonError, UnsupportedTargetError
from gnomon.report.document import CheckResult, Report

CONFIG_ALONE = "a config alone says nothing of how a model runs; --twin runs a small model of it with random weights"
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
    twin: bool = False,
    progress: Progress | None = None,
    **evidence: Any,
) -> Report:
    """Examine a model, folder, config or file for faults in its position encoding.

    `select` and `ignore` are prefixes of check codes. Checks that take many seconds run when they are selected, or if
    the examination is to be `thorough`. For a model that is too large to run, or a config alone, `twin` runs a smaller
    model of the config with random weights; what files tell is still read from the files. `evidence` overrides what the
    adapters give, by name (`trained=True`, `config={...}`, `example={...}`), or adds what nothing else says
    (`causal=True`: the model is meant to look only backwards). Raises a GnomonError when the target cannot be read, a
    name is unknown or a value is of a type that no check can use.

    >>> from gnomon.encodings import ALiBi
    >>> from gnomon.models import Decoder, ModelOptions
    >>> report = diagnose(Decoder(ModelOptions(vocabulary=32, dim=16, num_heads=2, num_layers=1), encoding=ALiBi(2)))
    >>> report.ok
    True
    """
    checks = chosen(select, ignore)
    options = {"device": device, "dtype": dtype, "allow_pickle": allow_pickle, "forward": forward and not twin}
    subject = _subject(target, evidence, **options)
    if subject.has("built") and not (twin or thorough or select):
        subject = subject.with_evidence(module=Absent(CONFIG_ALONE), example=Absent(CONFIG_ALONE))
    runs = _subject(target, evidence, **options, twin=True) if twin else subject
    require_usable(runs)
    # A fixed seed and the caller's generator left as it was: the same target gives the same report.
    with torch.random.fork_rng(devices=[]), threads_for(runs):
        torch.manual_seed(0)
        results = run_all(checks, subject, progress, heavy=thorough or select is not None, stand_in=runs)
        found = found_encodings(subject) or found_encodings(runs)
        if select is None and ignore is None and not found:
            _require_attention(runs, results)
        results = located(results, subject)
        causes = join(results, RULES)
        return Report(subject.target, found, results, figures(runs), version("gnomon"), causes, _notes(runs))


def _subject(target: Target, evidence: Mapping[str, Any], **options: Any) -> Subject:
    """The subject of a target with what the caller knows beside it; raises a GnomonError for a name that is unknown."""
    subject = load_subject(target, **options)
    if unknown := sorted(set(evidence) - RAW - DERIVED):
        raise GnomonError(
            f"There is no evidence called {', '.join(unknown)}; known: {', '.join(sorted(RAW | DERIVED))}."
        )
    require_sound(evidence, allow_pickle=bool(options.get("allow_pickle")))
    stated = evidence.get("config")
    implied = config_evidence(stated) if isinstance(stated, Mapping) else {}  # what follows from a config given so
    return subject.with_evidence(**{**implied, **evidence}) if evidence else subject


def _notes(subject: Subject) -> tuple[str, ...]:
    """What a reader must know of the model that was run: how it is smaller than its config."""
    note = subject.get("built").note if subject.has("built") else ""
    return (note,) if note else ()


def _require_attention(subject: Subject, results: tuple[CheckResult, ...]) -> None:
    """Refuse a model in which there is nothing to examine: no encoding, no attention that would need one, no fault."""
    failed = [check for check in results if check.status == "failed"]
    seen = attempt(trace, subject)
    if (
        subject.has("graph")
        or not subject.has("module")
        or (seen and seen.attentions)
        or any(check.code != "PE310" for check in failed)
    ):
        return
    why = ", and no attention that would need one"
    if failed:
        why = f": {failed[0].findings[0].message}"
    elif not seen:
        why = f": {_why_nothing_is_seen(subject)}"
    raise UnsupportedTargetError(f"No position encoding was found in {subject.target}{why}.")


def _why_nothing_is_seen(subject: Subject) -> str:
    """What a reader can act on: that the forward runs and has no attention, else why it does not run."""
    try:
        model(subject)
    except MissingEvidence as reason:
        return str(reason)
    return "the forward runs, and has no attention over places of a sequence"


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
    with threads_for(subject):
        return Report(subject.target, found_encodings(subject), (), (), version("gnomon"))
