"""The command that repeats one run of a study."""

import shlex

from gnomon.report.lab.results import Run
from gnomon.report.lab.study import Study


def run_command(study: Study, run: Run) -> str:
    """What does this run alone anew, whatever is stored of it, on the device of the study.

    >>> run = Run("train", "copy", "rotary", 1)
    >>> run_command(Study("copy", "", "", "", "quick", "gnomon lab copy --quick"), run).replace(run.key, "KEY")
    'gnomon lab repeat copy KEY --seed 1 --quick'
    """
    quick = ["--quick"] if study.size == "quick" else []
    elsewhere = {result.environment.get("device", "cpu") for result in study.results} - {"cpu"}
    words = ["gnomon", "lab", "repeat", study.suite, run.key, "--seed", str(run.seed), *quick]
    return shlex.join([*words, *(["--device", "auto"] if elsewhere else [])])
