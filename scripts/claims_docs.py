"""Writes the tables of docs/article.md: the claims from the code, and what was measured from benchmarks/results.

`gnomon lab claims --quick --output FOLDER` measures; copy its claims.json and claims.md to
benchmarks/results/claims-DATE.json and .md, and run this.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path

from gnomon.lab.claims import all_claims
from gnomon.report.lab.claims import ClaimsReport
from gnomon.report.lab.claims_markdown import cell, summary_table

ROOT = Path(__file__).parents[1]
PAGE, RESULTS = ROOT / "docs" / "article.md", ROOT / "benchmarks" / "results"


def newest() -> Path:
    """The committed results of the last date."""
    return max(RESULTS.glob("claims-*.json"))


def claims_table() -> Iterator[str]:
    """What the article says, what is true, and what gnomon does; each row can be linked to as #claim-N."""
    yield from ("| # | § | the article says | what is true | in gnomon |", "|---|---|---|---|---|")
    for claim in all_claims():
        number = f'<a id="claim-{claim.number}"></a>{claim.number}'
        private = f" (Cannot be checked: {claim.private}.)" if claim.private else ""
        linked = re.sub(r"`(PE\d{3})`", r"[`\1`](checks/\1.md)", claim.gnomon)
        texts = (claim.statement, claim.truth + private, linked)
        yield f"| {number} | {claim.section} | {' | '.join(cell(text) for text in texts)} |"


def measured_table() -> Iterator[str]:
    """The verdicts of the newest committed results."""
    path = newest()
    report = ClaimsReport.from_dict(json.loads(path.read_text(encoding="utf-8")))
    where = ", ".join(f"{name} {report.environment[name]}" for name in ("torch", "cpu", "cores"))
    yield f"Measured on {report.date} ({where}) with `{report.command}`: {report.summary}. Numbers are mean ± standard"
    yield f"deviation over {len(report.seeds)} seeds; [all of them](../benchmarks/results/{path.stem}.md)."
    yield ""
    yield from summary_table(report)


def written(page: str) -> str:
    """The page with both tables renewed between their marks."""
    for name, lines in (("claims", claims_table()), ("measured", measured_table())):
        start, end = f"<!-- {name}: written by scripts/claims_docs.py -->", f"<!-- end of {name} -->"
        if page.count(start) != 1 or page.count(end) != 1:
            raise SystemExit(f"{PAGE.name} needs the marks of {name}, each of them once.")
        before, _, rest = page.partition(start)
        page = before + "\n".join((start, *lines, end)) + rest.partition(end)[2]
    return page


def main() -> None:
    PAGE.write_text(written(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    print(f"{PAGE.name}: both tables, from {newest().name}")


if __name__ == "__main__":
    main()
