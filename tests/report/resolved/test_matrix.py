"""Many configs beside many stacks: one word for each pair, and a sum."""

from gnomon.report.resolved.document import Column, Resolution
from gnomon.report.resolved.matrix import render_matrix


def column(stack: str, verdict: str, version: str = "1") -> Column:
    return Column(stack, version, stack, "always", "serves", verdict, "", "run", "s")  # type: ignore[arg-type]


def test_a_row_for_each_config_and_a_column_for_each_stack() -> None:
    found = [
        Resolution("one", "config", "hf5@1", (1,), 1, (column("hf5", "reference"), column("vllm", "differs"))),
        Resolution("two", "config", "hf5@1", (1,), 1, (column("hf5", "reference"), column("tgi", "stops"))),
    ]
    head, one, two, *_, last = render_matrix(found).splitlines()
    assert head.split() == ["hf5", "vllm", "tgi"]
    assert one.split() == ["one", "ref", "DIFF"]
    assert two.split() == ["two", "ref", "stop"]
    assert last == "2 configs: 0 equal, 1 differs, 1 stops, 0 absent"


def test_versions_of_one_stack_are_told_apart() -> None:
    columns = (column("hf5", "reference"), column("vllm", "equal", "2"), column("vllm", "absent", "1"))
    head, row, *_ = render_matrix([Resolution("one", "config", "hf5@1", (1,), 1, columns)]).splitlines()
    assert head.split() == ["hf5", "vllm@2", "vllm@1"]
    assert row.split() == ["one", "ref", "=", "."]


def test_a_reader_of_ours_that_broke_has_a_mark_of_its_own_and_is_counted() -> None:
    columns = (column("hf5", "reference"), column("vllm", "broken"), column("tgi", "absent"))
    _, row, *_, last = render_matrix([Resolution("one", "config", "hf5@1", (1,), 1, columns)]).splitlines()
    assert row.split() == ["one", "ref", "BROKE", "."]
    assert last == "1 configs: 0 equal, 0 differs, 0 stops, 1 absent, 1 broken"
