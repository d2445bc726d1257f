"""`python -m scripts.lab_picture`: the curves of the committed extrapolation study, for docs/lab.md."""

import json
from pathlib import Path

from gnomon.lab.figures import figures
from gnomon.plots import write_figures
from gnomon.report.lab.evidence import Evidence
from gnomon.report.lab.results import MeasureInfo, Result

ROOT = Path(__file__).parents[1]
STUDIES = ROOT / "benchmarks" / "results" / "lab"
PICTURE = ROOT / "docs" / "pictures" / "lab" / "extrapolation.png"
SHOWN = ("perplexity", "last_k_perplexity")


def main() -> None:
    file = max(STUDIES.glob("extrapolation-quick-20*.json"))
    study = json.loads(file.read_text(encoding="utf-8"))
    measures = [MeasureInfo(**fields) for fields in study["measures"] if fields["name"] in SHOWN]
    drawn = figures(Evidence([Result.from_dict(fields) for fields in study["results"]]), measures)
    PICTURE.parent.mkdir(parents=True, exist_ok=True)
    write_figures(drawn, PICTURE)


if __name__ == "__main__":
    main()
