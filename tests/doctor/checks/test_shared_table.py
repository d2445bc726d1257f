"""PE218: positions that are the words."""

import torch
from torch import nn

from gnomon.doctor import run
from tests.helpers.subjects import holding, noise
from tests.helpers.toys import VOCABULARY, Toy, examine, only_finding


def tied() -> Toy:
    model = Toy(rows=VOCABULARY)
    model.positions.weight = model.words.weight
    return model


def test_a_table_tied_to_the_words_is_found() -> None:
    finding = only_finding(examine("PE218", tied()))
    assert (finding.where, finding.measured["tied to"]) == ("positions.weight", "words.weight")


def test_equal_numbers_in_a_file_are_the_same_fault() -> None:
    table = noise(30, 16)
    assert run("PE218", holding({"wpe.weight": table, "wte.weight": table.clone()})).status == "failed"
    assert run("PE218", holding({"wpe.weight": table, "wte.weight": table + 0.01})).status == "passed"
    assert run("PE218", holding({"wpe.weight": table, "wte.weight": table.double()})).status == "passed"


def test_two_stacks_may_share_a_table_of_positions() -> None:
    table = noise(30, 16)
    both = {"encoder.embed_positions.weight": table, "decoder.embed_positions.weight": table}
    assert run("PE218", holding(both)).status == "passed"


def test_words_tied_to_the_output_are_healthy() -> None:
    model = Toy(rows=VOCABULARY)
    model.head = nn.Linear(32, VOCABULARY, bias=False)
    model.head.weight = model.words.weight
    assert examine("PE218", model).status == "passed"


def test_tables_of_zeros_are_not_judged() -> None:
    zeros = torch.zeros(30, 16)
    assert run("PE218", holding({"wpe.weight": zeros, "wte.weight": zeros})).status == "not-applicable"
