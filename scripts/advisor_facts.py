"""`python -m scripts.advisor_facts`: what the committed studies of the lab say of single encodings, for the advisor.

It reads benchmarks/results/lab/*.json, and writes src/gnomon/advisor/lab.json, which the advisor shows as lab results.
The models are small, so these facts carry no points: they are evidence beside published tables, and move nothing.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from gnomon.plots.files import write_whole
from gnomon.report.lab.evidence import Evidence
from scripts.lab_studies import newest

FACTS = Path(__file__).parents[1] / "src" / "gnomon" / "advisor" / "lab.json"
TEXT, LAST = "stdlib", "last_k_perplexity"
STRETCH = 8  #: how many times the trained length is compared
FAR = 2.0  #: inputs stretched by less are not what the comparison is about


def written() -> str:
    """The file's content, from the newest study of each kind."""
    facts = [*_extrapolation("extrapolation-quick"), *_convergence("convergence-quick")]
    return json.dumps({"schema_version": 1, "facts": facts}, indent=1, ensure_ascii=False) + "\n"


def _extrapolation(name: str) -> Iterator[dict[str, Any]]:
    evidence, source = _study(name)
    trained = int(evidence.places(TEXT, LAST)[0] or 0)
    for variant in sorted(evidence.variants(TEXT)):
        near = evidence.by_seed(TEXT, variant, LAST, trained)
        far = evidence.by_seed(TEXT, variant, LAST, STRETCH * trained)
        if far:
            told = f"of the last tokens {_mean(near)} at {trained} bytes, {_mean(far)} at {STRETCH * trained}"
        else:
            told = f"{_mean(near)} at {trained} bytes, none beyond: the table ends"
        rows = f"a model of 3 layers trained on rows of {trained} bytes of Python source"
        statement = f"{rows}: perplexity {told} ({_seeds(near)})"
        yield _fact(variant, statement, source, least_stretch=FAR)


def _convergence(name: str) -> Iterator[dict[str, Any]]:
    evidence, source = _study(name)
    for variant in sorted(evidence.variants(TEXT)):
        steps = evidence.by_seed(TEXT, variant, "steps_to_target")
        if steps:
            statement = (
                f"a model of 3 layers over Python source: {_mean(steps)} steps to the same loss ({_seeds(steps)})"
            )
            yield _fact(variant, statement, source, least_stretch=1.0)


def _fact(encoding: str, statement: str, source: str, *, least_stretch: float) -> dict[str, Any]:
    return {
        "encoding": encoding,
        "statement": statement,
        "source": source,
        "least_stretch": least_stretch,
        "causal": True,
    }


def _study(name: str) -> tuple[Evidence, str]:
    file, study, evidence = newest(name)
    return evidence, f"{study['command']}, {file.stem.removeprefix(f'{name}-')}"


def _mean(numbers: dict[int, float]) -> str:
    """The mean over seeds, and the lowest and the highest."""
    values = list(numbers.values())
    return f"{sum(values) / len(values):.3g} ({min(values):.3g} to {max(values):.3g})"


def _seeds(numbers: dict[int, float]) -> str:
    return f"{len(numbers)} seeds"


if __name__ == "__main__":
    write_whole(FACTS, written().encode())
