"""The committed studies of the lab, for the scripts that write what they say into docs and code."""

import json
from pathlib import Path
from typing import Any

from gnomon.report.lab.evidence import Evidence
from gnomon.report.lab.results import Result

STUDIES = Path(__file__).parents[1] / "benchmarks" / "results" / "lab"


def newest(name: str) -> tuple[Path, dict[str, Any], Evidence]:
    """The file of the last date, what it holds, and its numbers."""
    file = max(STUDIES.glob(f"{name}-20*.json"))
    study = json.loads(file.read_text(encoding="utf-8"))
    return file, study, Evidence([Result.from_dict(fields) for fields in study["results"]])
