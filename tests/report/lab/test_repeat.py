"""The command that repeats one run is what a shell can be given."""

import shlex
from dataclasses import replace

from gnomon.report.lab.repeat import run_command
from tests.helpers.made_up_study import made_up_study


def test_it_names_suite_key_seed_and_size() -> None:
    study = made_up_study()
    run = study.results[1].run
    assert run_command(study, run) == f"gnomon lab repeat extrapolation {run.key} --seed 1 --quick"
    assert run_command(replace(study, size="full"), run) == f"gnomon lab repeat extrapolation {run.key} --seed 1"


def test_a_study_that_was_made_elsewhere_than_on_the_cpu_asks_for_what_there_is() -> None:
    study = made_up_study()
    moved = tuple(replace(result, environment={"device": "cuda"}) for result in study.results)
    assert run_command(replace(study, results=moved), study.results[0].run).endswith(" --quick --device auto")


def test_a_name_that_a_shell_would_read_is_quoted() -> None:
    study = made_up_study()
    command = run_command(replace(study, suite="a; rm -r $HOME"), study.results[0].run)
    assert shlex.split(command)[3] == "a; rm -r $HOME"
