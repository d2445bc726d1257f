"""A resolution as plain data: JSON values only, columns by name, no torch behind it."""

import json
import math
import subprocess
import sys
from dataclasses import replace

import pytest

from gnomon.errors import UnknownNameError
from gnomon.report.resolved.document import Column, Lint, Mend, Resolution
from gnomon.report.resolved.layers import Decided, Effect, Frequencies, Layer, Scale, Unread
from tests.helpers.made_up_resolution import made_up_resolution


def layer(kind: str = "all layers") -> Layer:
    return Layer(
        *(kind, 64, 32, 1e4, "yarn", "half"),
        frequencies=(Frequencies((8, 9), (1.0, None)),),
        scales=(Scale(8, 1.0, 1.0), Scale(9, 1.2, 1.44)),
        used=(Decided("base", 1e4, "default"),),
    )


def column(stack: str, version: str = "1", **fields: object) -> Column:
    usual: dict[str, object] = {"status": "serves", "verdict": "equal", "message": "", "layers": (layer(),)}
    return Column(stack, version, "A stack", "since 1", sure="run", sources="s", **{**usual, **fields})  # type: ignore[arg-type]


def resolution() -> Resolution:
    first = column("hf5", verdict="reference", ignored=(Unread("rope_scaling.x", math.nan, "not read"),))
    off = column("vllm", "2", verdict="differs", effects=(Effect("all layers", 8, False, phase=1.5),), mend=Mend())
    return Resolution("a.json", "config", "hf5@1", (8, 9), 9, (first, off, column("vllm", "1")), ("All.",), (), "0.1")


def test_every_field_is_in_the_json_in_its_order() -> None:
    read = json.loads(resolution().to_json(), parse_constant=pytest.fail)
    assert list(read) == [
        *("schema_version", "target", "source", "reference", "lengths", "served", "columns", "summary", "lints"),
        "gnomon",
    ]
    assert read["schema_version"] == 1
    first, off, _ = read["columns"]
    assert first["layers"][0]["frequencies"] == [{"lengths": [8, 9], "inverse": [1.0, None]}]
    assert first["layers"][0]["scales"][1] == {"length": 9, "magnitude": 1.2, "logits": 1.44}
    assert first["layers"][0]["used"] == [{"what": "base", "value": 10000.0, "key": "default"}]
    assert first["ignored"] == [{"key": "rope_scaling.x", "value": None, "why": "not read"}]  # NaN is no JSON
    assert off["effects"][0]["phase"] == 1.5
    assert off["mend"] == {"text": "", "nearest": "", "left": ""}
    assert first["mend"] is None


def test_values_of_any_kind_become_json() -> None:
    odd = column("a", notes=(), used=(Decided("x", {1: (2, {3})}, "k"), Decided("y", 1 + 2j, "k")))
    used = json.loads(json.dumps(Resolution("t", "config", "a@1", (1,), 1, (odd,)).to_dict()))["columns"][0]["used"]
    assert used[0]["value"] == {"1": [2, "{3}"]}
    assert used[1]["value"] == "(1+2j)"


def test_columns_are_found_by_stack_and_version() -> None:
    found = resolution()
    assert found.column("vllm").version == "2"
    assert found.column("vllm", "1").name == "vllm@1"
    with pytest.raises(UnknownNameError, match="No engine 'tgi' was asked about this file; there are"):
        found.column("tgi")
    with pytest.raises(UnknownNameError, match="vllm@9"):
        found.column("vllm", "9")


def test_a_mend_without_text_is_none_that_is_possible() -> None:
    assert Mend("type this").possible
    assert not Mend().possible


def test_lints_carry_what_the_doctor_says() -> None:
    lint = Lint("PE101", "rope-spellings-disagree", "error", "config.json", "they differ", "write one")
    found = Resolution("t", "config", "a@1", (1,), 1, (), lints=(lint,)).to_dict()["lints"]
    assert found == [vars(lint)]


def test_neither_torch_nor_numpy_stands_behind_the_document() -> None:
    code = "import sys; import gnomon.report.resolved.text; print('torch' in sys.modules, 'numpy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split()[0] == "False"


def test_a_column_is_called_with_its_version_where_the_name_alone_says_too_little() -> None:
    found = made_up_resolution()
    twin, early = found.column("twin"), found.column("early")
    assert found.label(twin) == "twin"
    older = replace(twin, version="0.9", newest=False)
    assert replace(found, columns=(early, older)).label(older) == "twin@0.9"
    assert replace(found, columns=(twin, older)).label(twin) == "twin@1.0"
