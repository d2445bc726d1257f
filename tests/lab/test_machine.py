"""Where a result was made, and whether that is here and today."""

import os

import torch

import gnomon
from gnomon.lab.machine import differences, environment, this_machine, usable_cores, versions


def test_versions_leave_out_the_mark_of_a_build() -> None:
    assert versions() == {"gnomon": gnomon.__version__, "torch": str(torch.__version__).split("+")[0]}


def test_the_environment_of_a_process_holds_that_of_the_machine() -> None:
    assert this_machine().items() <= environment("cpu").items()
    assert environment("cpu")["threads"] == str(torch.get_num_threads())


def test_cores_are_those_that_may_be_used() -> None:
    before = os.sched_getaffinity(0)
    try:
        os.sched_setaffinity(0, {min(before)})
        assert usable_cores() == 1
    finally:
        os.sched_setaffinity(0, before)
    assert usable_cores() == len(before)


def test_only_what_decides_numbers_makes_a_difference() -> None:
    today = {"gnomon": "1", "torch": "2", "python": "3.12", "device": "cpu"}
    assert differences({"gnomon": "1", "torch": "2", "python": "3.11", "device": "cpu"}, today) == []
    assert differences({"gnomon": "0", "torch": "2", "device": "cuda"}, today) == ["gnomon 0", "device cuda"]
    assert differences({}, {"torch": "2"}) == ["torch ?"]
