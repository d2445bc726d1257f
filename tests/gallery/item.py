"""What a file of the gallery holds: a public fault report as something small that runs, or one that was no fault."""

import importlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, final

from gnomon.doctor.diagnosis import Target
from gnomon.report.document import Severity

FOLDER = Path(__file__).parent
Build = Callable[[Path], Target]  #: given an empty folder to write files into


@final
@dataclass(frozen=True)
class Fault:
    """A fault that the doctor must find.

    `source`: the public report, as owner/repository#number (several with commas). `check`: the code that must fail.
    `where`: text in the place of its finding. `right`: a regular expression for the right value or behaviour, found in
    the finding's message, fix or measured numbers. `healthy`: the same thing without the fault, on which the same check
    must pass. `evidence`: what the user passes to `gnomon.diagnose` beside the target; `healthy_evidence` is passed in
    its place with the healthy thing, where the fault lies in the evidence.
    """

    source: str
    check: str
    where: str
    right: str
    build: Build
    healthy: Build
    evidence: Mapping[str, Any] = field(default_factory=dict)
    severity: Severity = "error"
    healthy_evidence: Mapping[str, Any] | None = None


@final
@dataclass(frozen=True)
class LookAlike:
    """A report that was no fault, or a healthy thing that looks like one: no check may fail at error level.

    `passes`: the checks that must have looked and passed, so that silence is earned.
    """

    source: str
    build: Build
    passes: tuple[str, ...]
    evidence: Mapping[str, Any] = field(default_factory=dict)


def items() -> Iterator[tuple[str, Fault | LookAlike]]:
    """Every item with its name, area/file: each file in a folder here holds one, called ITEM."""
    for file in sorted(FOLDER.glob("*/*.py")):
        name = f"{file.parent.name}/{file.stem}"
        yield name, importlib.import_module(f"tests.gallery.{name.replace('/', '.')}").ITEM
