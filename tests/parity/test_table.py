"""The table of families says what is so: the tests exist, and the encodings are those of the configs."""

import ast
from pathlib import Path

import pytest

from gnomon.adapters.families import BY_MODEL_TYPE
from tests.helpers.parity_table import ROWS, Row, markdown

HERE = Path(__file__).parent


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.family)
def test_a_row_names_a_test_that_mentions_the_family(row: Row) -> None:
    assert row.model_type in BY_MODEL_TYPE
    file, name = row.test.split("::")
    source = (HERE / file).read_text()
    assert name in {node.name for node in ast.parse(source).body if isinstance(node, ast.FunctionDef)}
    assert f'"{row.model_type}' in source


def test_the_encodings_come_from_the_configs() -> None:
    names = {row.family: row.encoding for row in ROWS}
    assert names["Gemma 4, full layers"] == "rotary, proportional"
    assert names["Phi-3, LongRoPE"] == "rotary, longrope"
    assert names["Llama 4, layers without"] == "nope"
    assert names["Whisper, encoder"] == "sinusoidal"
    assert names["Qwen2-VL, images"] == "axial_rotary"
    assert len(markdown().splitlines()) == len(ROWS) + 2


def test_the_page_has_the_table() -> None:
    assert markdown() in (HERE.parents[1] / "docs" / "parity.md").read_text(encoding="utf-8")
