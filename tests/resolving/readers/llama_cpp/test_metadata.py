"""Names with dots as nested mappings, and the keys of a file that nobody asked for."""

import pytest

from gnomon.resolving.readers.llama_cpp.architectures import layout_of
from gnomon.resolving.readers.llama_cpp.metadata import architecture_of, nested, unread, view
from gnomon.resolving.stopping import NoSuchModel

HELD = {"general.architecture": "qwen2", "qwen2.rope.freq_base": 1e6, "qwen2.rope.scaling.type": "yarn", "other": 1}


def test_a_view_has_the_paths_of_the_file() -> None:
    keys = view(HELD)
    assert keys.number("base", "rope.freq_base") == 1e6
    assert [(item.what, item.key) for item in keys.used()] == [("base", "qwen2.rope.freq_base")]
    assert [item.key for item in unread(HELD, keys)] == ["qwen2.rope.scaling.type"]


def test_a_name_that_runs_into_a_value_is_left_out() -> None:
    assert nested({"rope": 1, "rope.freq_base": 2.0}) == {"rope": 1}


@pytest.mark.parametrize("held", [{}, {"general.architecture": 3}, {"general.architecture": ""}])
def test_a_file_without_an_architecture_has_no_reading(held: dict[str, object]) -> None:
    with pytest.raises(NoSuchModel, match="architecture"):
        architecture_of(held)


@pytest.mark.parametrize(
    ("name", "layout"),
    [("llama", "interleaved"), ("deepseek2", "interleaved"), ("glm4", "interleaved"), ("qwen2vl", "half")],
)
def test_layouts_by_architecture(name: str, layout: str) -> None:
    assert layout_of(name) == layout


@pytest.mark.parametrize(("name", "said"), [("bloom", "no rotary"), ("glm-dsa", "not traced"), ("x", "not traced")])
def test_no_layout_is_made_up(name: str, said: str) -> None:
    with pytest.raises(NoSuchModel, match=said):
        layout_of(name)
