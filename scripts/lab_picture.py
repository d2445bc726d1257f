"""`python -m scripts.lab_picture`: the curves of the committed extrapolation study, for docs/lab.md."""

from pathlib import Path

from gnomon.lab.figures import figures
from gnomon.plots import write_figures
from gnomon.report.lab.results import MeasureInfo
from scripts.lab_studies import newest

PICTURE = Path(__file__).parents[1] / "docs" / "pictures" / "lab" / "extrapolation.png"
SHOWN = ("perplexity", "last_k_perplexity")


def main() -> None:
    _, study, evidence = newest("extrapolation-quick")
    measures = [MeasureInfo(**fields) for fields in study["measures"] if fields["name"] in SHOWN]
    PICTURE.parent.mkdir(parents=True, exist_ok=True)
    write_figures(figures(evidence, measures), PICTURE)


if __name__ == "__main__":
    main()
