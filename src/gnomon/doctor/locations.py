"""Which line of the user's files a finding is about: of the module's class, or of its config."""

import inspect
import json
import re
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import torch
from torch import nn

from gnomon.adapters.subject import Subject
from gnomon.doctor.evidence.base import attempt
from gnomon.report.cause import Location
from gnomon.report.document import CheckResult, Finding

OWN = str(Path(__file__).parents[1])


def located(results: Iterable[CheckResult], subject: Subject) -> tuple[CheckResult, ...]:
    """The results with a location in every finding that has one."""
    module = attempt(lambda s: s.get("original"), subject)  # models that were loaded have no code of the user's
    config = _config_file(subject.target)
    return tuple(
        replace(result, findings=tuple(_located(finding, module, config) for finding in result.findings))
        for result in results
    )


def _located(finding: Finding, module: nn.Module | None, config: Path | None) -> Finding:
    found = _in_code(finding.where, module) if module is not None and finding.where else None
    found = found or (None if config is None else _in_config(finding, config))
    return finding if found is None else replace(finding, location=found)


def _in_code(where: str, module: nn.Module) -> Location | None:
    """The forward of the module that a path names, or the line that assigns the tensor that it names."""
    pattern = re.compile(re.escape(where).replace(r"\*", r"\d+"))
    for path, part in module.named_modules():
        if pattern.fullmatch(path):
            return _line_of(type(part), r"def forward\b")
        names = [*part._parameters, *part._buffers, *vars(part)]
        prefix = f"{path}." if path else ""
        name = next((n for n in names if pattern.fullmatch(prefix + n)), None)
        if name is not None and isinstance(getattr(part, name, None), torch.Tensor):
            return _line_of(type(part), rf"self\.{re.escape(name)}\s*[:=]|[\"']{re.escape(name)}[\"']")
    return None


def _line_of(kind: type, pattern: str) -> Location | None:
    """Where in the class's own source the pattern stands first; the class itself where it does not."""
    try:
        file = inspect.getsourcefile(kind)
        lines, start = inspect.getsourcelines(kind)
    except (OSError, TypeError):
        return None  # made in a shell, or built in
    if file is None or "site-packages" in file or file.startswith(OWN):
        return None  # nothing that a user would change
    offset = next((i for i, line in enumerate(lines) if re.search(pattern, line)), 0)
    return Location(file, start + offset)


def _config_file(target: str) -> Path | None:
    path = Path(target)
    try:
        candidates = [path / "config.json" if path.is_dir() else path]
        return next((file for file in candidates if file.suffix == ".json" and file.is_file()), None)
    except (OSError, ValueError):
        return None


def _in_config(finding: Finding, config: Path) -> Location | None:
    """The line of the last key that the place or the measured numbers name."""
    named = [*re.findall(r"\w+", finding.where), *(k for name in finding.measured for k in re.findall(r"\w+", name))]
    try:
        lines = config.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return None
    for key in reversed(named):
        for number, line in enumerate(lines, start=1):
            if line.lstrip().startswith(f"{json.dumps(key)}:"):
                return Location(str(config), number)
    return Location(str(config), 1) if finding.where == "config.json" else None
