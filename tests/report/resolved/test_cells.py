"""What a square says: the frequency's error, the length it is seen from, the logits, or a word."""

from dataclasses import replace

import pytest

from gnomon.report.resolved.cells import counterpart, ratios, rows, worst_effect
from gnomon.report.resolved.words import worst
from tests.helpers.made_up_resolution import effects, layer, made_up_resolution

NAMES = [column.name for column in made_up_resolution().columns]


@pytest.mark.parametrize(
    ("stack", "tone", "mark", "second"),
    [
        ("hf5", "neutral", "ref", ""),
        ("twin", "good", "=", ""),
        ("early", "bad", "76%", "from 455"),
        ("late", "caution", "1%", "from 9,000"),
        ("hot", "bad", "×1.3", "logits"),
        ("narrow", "bad", "width", ""),
        ("fails", "crash", "stops", ""),
        ("lacks", "neutral", "·", ""),
    ],
)
def test_a_square_is_told_by_its_effect(stack: str, tone: str, mark: str, second: str) -> None:
    [row] = rows([made_up_resolution()], NAMES)
    [cell] = [cell for cell in row.cells if cell and cell.column.stack == stack]
    assert (cell.tone, cell.mark, cell.second) == (tone, mark, second)


def test_a_frequency_many_times_too_fast_is_written_out() -> None:
    found = made_up_resolution()
    fast = replace(found.column("early"), effects=effects(relative=20.0, visible=2))
    [row] = rows([replace(found, columns=(fast,))], ["early@1.0"])
    assert row.cells[0] is not None
    assert row.cells[0].mark == "21 times"


def test_a_stack_that_was_not_asked_about_leaves_its_square_empty() -> None:
    [row] = rows([made_up_resolution()], [*NAMES, "other@2"])
    assert row.cells[-1] is None
    assert None not in row.cells[:-1]


def test_two_files_of_one_name_have_two_addresses() -> None:
    found = [made_up_resolution(target="a/config.json"), made_up_resolution(target="b/config.json")]
    ids = [cell.id for row in rows(found, NAMES) for cell in row.cells if cell]
    assert len(set(ids)) == len(ids) == 16
    assert ids[0] == "config-json.hf5@1.0"


def test_ratios_are_by_pair_and_empty_where_widths_differ() -> None:
    assert ratios(layer(1.0, 0.02), layer(1.0, 0.01), 4097) == (1.0, 2.0)
    assert ratios(layer(1.0, 0.02), layer(1.0), 4097) == ()
    assert ratios(layer(1.0, 0.02), None, 4097) == ()


def test_a_kind_of_layer_stands_beside_the_one_for_all_where_only_that_is_known() -> None:
    reference = made_up_resolution().column("hf5")
    assert counterpart(reference, "full_attention") is reference.layers[0]
    assert counterpart(None, "full_attention") is None


def test_a_reader_of_ours_that_broke_is_no_model_that_is_absent() -> None:
    found = made_up_resolution()
    broke = replace(found.column("lacks"), status="broken", verdict="broken", message="gnomon's own reader broke")
    [row] = rows([replace(found, columns=(broke,))], ["lacks@1.0"])
    assert row.cells[0] is not None
    assert (row.cells[0].tone, row.cells[0].mark) == ("crash", "broke")
    assert row.cells[0].label.endswith("gnomon broke")


def test_a_square_speaks_of_the_worst_effect_by_the_same_order_as_the_table() -> None:
    found = made_up_resolution()
    [slow, *_], [fast, *_] = effects(relative=0.9, visible=9), effects(relative=0.1, visible=9)
    both = (replace(slow, kind="sliding", phase=1.0), replace(fast, kind="full", phase=5.0))
    column = replace(found.column("early"), effects=both)
    assert worst_effect(column) == both[1]
    assert worst(replace(column, effects=tuple(replace(each, kind="full") for each in both)), "full") == replace(
        both[1], kind="full"
    )
