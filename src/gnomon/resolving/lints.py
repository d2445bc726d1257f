"""The faults of the file itself: the doctor's checks of group PE1, on the config alone."""

from collections.abc import Mapping
from typing import Any

from gnomon.adapters.checkpoints.huggingface import config_evidence
from gnomon.adapters.gguf.config import gguf_config
from gnomon.adapters.gguf.cursor import Array
from gnomon.adapters.subject import Lazy, Subject
from gnomon.doctor.check import registry
from gnomon.doctor.runner import chosen, run_all
from gnomon.report.document import SEVERITIES, CheckResult
from gnomon.report.resolved.document import Lint
from gnomon.resolving.given import Given

GROUP = "PE1"


def lints_of(given: Given) -> tuple[Lint, ...]:
    """What the checks of group PE1 find, worst first; those without evidence in a config say nothing."""
    results = run_all(chosen(GROUP, None), Subject(given.name, **_evidence(given)))
    order: dict[str, int] = {severity: place for place, severity in enumerate(SEVERITIES)}
    return tuple(sorted((lint for result in results for lint in _lints(result)), key=lambda lint: order[lint.severity]))


def _lints(result: CheckResult) -> list[Lint]:
    if result.status == "crashed":
        what = "the check itself broke, so that nothing is known of its fault"
        return [Lint(result.code, result.name, "note", "gnomon", what, "report it with the output of `gnomon env`")]
    usual = registry.get(result.code).severity
    return [
        Lint(result.code, result.name, found.severity or usual, found.where, found.message, found.fix)
        for found in result.findings
    ]


def _evidence(given: Given) -> dict[str, Any]:
    tokenizer = {"tokenizer": dict(given.tokenizer)} if given.tokenizer else {}
    if given.config is not None:
        return {**config_evidence(given.config), **tokenizer}
    read = gguf_config(_with_arrays(given.metadata or {}))
    return {"config": read.config, "claims": Lazy(read.claims)}


def _with_arrays(metadata: Mapping[str, Any]) -> dict[str, Any]:
    return {
        key: Array(len(value), tuple(value)) if isinstance(value, list) else value for key, value in metadata.items()
    }
