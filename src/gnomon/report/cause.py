"""What joins findings: one cause with its headline and fix, and where in the user's files a finding lies."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Location:
    """A line in a file of the user's: of the module's code, or of the config."""

    file: str
    line: int

    def __str__(self) -> str:
        """`file:line`, from the current folder where the file lies below it."""
        path, here = Path(self.file).absolute(), Path.cwd()
        return f"{path.relative_to(here) if path.is_relative_to(here) else path}:{self.line}"

    def to_dict(self) -> dict[str, Any]:
        return {"file": self.file, "line": self.line}


@dataclass(frozen=True)
class Cause:
    """Why several findings are there at once. `findings`: the code of a check, and which of its findings (from 0)."""

    name: str
    headline: str
    fix: str
    findings: tuple[tuple[str, int], ...]

    def to_dict(self, places: Mapping[tuple[str, int], str]) -> dict[str, Any]:
        """Plain data; `places` says where each finding lies."""
        joined = [{"code": code, "where": places.get((code, index), "")} for code, index in self.findings]
        return {"name": self.name, "headline": self.headline, "fix": self.fix, "findings": joined}
