"""The doctor on whole models: each of the ten mutations is found and named, and the healthy twins are left alone."""

import json
from collections.abc import Callable

import pytest
from torch import nn

from gnomon.doctor import diagnose
from tests.helpers.command import gnomon
from tests.mutation.models import HEALTHY, MUTATIONS


@pytest.mark.parametrize("mutate", MUTATIONS, ids=lambda mutate: mutate.__name__)
def test_the_mutation_is_found_at_error_level_and_its_fix_names_the_cause(mutate: Callable[[], nn.Module]) -> None:
    code, message, fix = MUTATIONS[mutate]
    report = diagnose(mutate())
    [check] = [c for c in report.failed if c.code == code]
    assert check.severity == "error"
    assert any(message in f.message and fix in f.fix for f in check.findings), check.findings


@pytest.mark.parametrize("build", HEALTHY, ids=lambda build: build.__name__)
def test_the_healthy_twin_is_left_alone(build: Callable[[], nn.Module]) -> None:
    report = diagnose(build())
    assert not report.crashed
    assert [(c.code, c.findings) for c in report.failed if c.severity == "error"] == []


def test_the_command_examines_a_mutation_by_the_name_of_its_factory() -> None:
    outcome = gnomon("doctor", "tests.mutation.models:wrong_base", "--select", "PE307", "--format", "json")
    assert outcome.code == 1
    [check] = json.loads(outcome.stdout)["checks"]
    assert check["status"] == "failed"
    assert "base 10000" in check["findings"][0]["message"]
