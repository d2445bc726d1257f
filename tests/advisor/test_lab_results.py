"""What gnomon's own lab measured: as the committed studies say, shown for new language models, and moving nothing."""

import json
import subprocess
import sys

import pytest

from gnomon.advisor import advise, read_measured
from gnomon.advisor.measured import shipped
from gnomon.report.advice.document import Advice
from scripts.advisor_facts import FACTS, written
from scripts.lab_studies import STUDIES


def test_the_file_is_what_the_committed_studies_say() -> None:
    assert FACTS.read_text(encoding="utf-8") == written(), "run `python -m scripts.advisor_facts`"


def test_its_facts_are_valid_and_have_no_points() -> None:
    assert read_measured(FACTS) == shipped()
    assert {fact.points for fact in shipped()} == {0}
    assert {fact.encoding for fact in shipped()} >= {"alibi", "t5", "rotary", "sinusoidal", "learned", "nope"}


def test_a_number_is_the_mean_of_the_seeds_in_the_study() -> None:
    [file] = STUDIES.glob("extrapolation-quick-*.json")
    results = json.loads(file.read_text(encoding="utf-8"))["results"]
    runs = [result for result in results if result["run"]["variant"] == "alibi"]
    numbers = [
        series["values"][series["at"].index(512)]
        for result in runs
        for series in [next(iter(result["measured"].values()))["last_k_perplexity"]]
    ]
    assert len(numbers) == 3
    [fact] = [fact for fact in shipped() if fact.encoding == "alibi" and "512" in fact.statement]
    assert f"{sum(numbers) / 3:.3g} ({min(numbers):.3g} to {max(numbers):.3g}) at 512" in fact.statement


def shown(advice: Advice) -> set[str]:
    kinds = ((it.name, each.kind) for it in advice.recommendations for each in it.evidence)
    return {name for name, kind in kinds if kind == "lab result"}


def test_they_are_shown_for_a_new_language_model_beyond_its_length() -> None:
    assert {"alibi", "rotary", "t5"} <= shown(advise("language-model", trained=512, target=4096))


@pytest.mark.parametrize(
    "asked",
    [
        {"task": "classification", "trained": 512},
        {"task": "language-model", "causal": False, "trained": 512},
        {"task": "language-model", "family": "llama", "trained": 2048, "target": 4096},
    ],
    ids=["another task", "an encoder", "a checkpoint"],
)
def test_they_are_not_shown_for_what_was_not_measured(asked: dict[str, object]) -> None:
    assert shown(advise(**asked)) == set()  # type: ignore[arg-type]


def test_they_need_no_torch() -> None:
    code = "import sys, gnomon; gnomon.advise('language-model', trained=8, target=64); sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
