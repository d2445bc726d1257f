"""`package.module:factory`: found beside the user, called, and every failure is one sentence."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from gnomon.adapters import load_subject
from gnomon.errors import UnsupportedTargetError

SOURCE = """
import torch
from torch import nn

model = nn.Sequential(nn.Embedding(5, 4), nn.Linear(4, 3))
number = 3

def plain():
    return model

def with_tuple():
    return model, (torch.ones(2, 3).long(),)

def with_dict():
    return model, {"input": torch.ones(4, 3).long()}

def raises():
    raise RuntimeError("no weights here\\nsecond line")

def leaves():
    raise SystemExit(0)

def stops():
    raise GeneratorExit

class Unreadable(Exception):
    def __str__(self):
        raise RuntimeError("no words")

def unreadable():
    raise Unreadable

def coloured():
    raise RuntimeError("\\x1b[31mred " + "long " * 200)

def interrupted():
    raise KeyboardInterrupt

def homeless():
    import os, shutil
    shutil.rmtree(os.getcwd())
    return model

def wanders():
    import os, tempfile
    with tempfile.TemporaryDirectory() as away:
        os.chdir(away)
    return model

def __getattr__(name):
    if name == "odd":
        raise SystemExit(3)
    raise AttributeError(name)

def nothing():
    return None

def three():
    return model, (1,), 2

class Models:
    build = staticmethod(plain)
"""


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    (tmp_path / "factories_for_test.py").write_text(SOURCE)
    (tmp_path / "broken_for_test.py").write_text("import module_that_is_not_there\n")
    (tmp_path / "syntax_for_test.py").write_text("def f(:\n")
    (tmp_path / "leaving_for_test.py").write_text("import sys\nsys.exit(0)\n")
    monkeypatch.chdir(tmp_path)
    before = list(sys.path)
    yield tmp_path
    assert sys.path == before
    for name in ("factories_for_test", "broken_for_test", "syntax_for_test", "leaving_for_test"):
        sys.modules.pop(name, None)


def test_a_factory_in_the_current_directory_is_called() -> None:
    subject = load_subject("factories_for_test:plain")
    assert subject.target == "factories_for_test:plain"
    assert subject.module(**subject.example).shape == (2, 12, 3)
    assert load_subject("factories_for_test:Models.build").module is not subject.module


@pytest.mark.parametrize(("name", "batch"), [("with_tuple", 2), ("with_dict", 4)])
def test_a_factory_may_bring_its_example(name: str, batch: int) -> None:
    subject = load_subject(f"factories_for_test:{name}")
    assert torch.equal(subject.example["input"], torch.ones(batch, 3).long())


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("nowhere_at_all:f", r"'nowhere_at_all' .* cannot be imported: ModuleNotFoundError: No module named"),
        ("broken_for_test:f", "ModuleNotFoundError: No module named 'module_that_is_not_there'"),
        ("syntax_for_test:f", "cannot be imported: SyntaxError"),
        ("factories_for_test:absent", "has no 'absent'"),
        ("factories_for_test:number", "is a int, not a function"),
        ("factories_for_test:raises", r"raised RuntimeError: no weights here\.$"),
        ("leaving_for_test:f", r"cannot be imported: SystemExit: 0\.$"),
        ("factories_for_test:leaves", r"raised SystemExit: 0\.$"),
        ("factories_for_test:stops", r"raised GeneratorExit\.$"),
        ("factories_for_test:odd", r"raised SystemExit: 3\.$"),
        ("factories_for_test:unreadable", r"raised Unreadable: its message cannot be read\.$"),
        ("factories_for_test:coloured", r"raised RuntimeError: \\x1b\[31mred long [^\x1b]{250,290}\[\.\.\.\]\.$"),
        ("factories_for_test:nothing", r"must give an nn.Module or .*, but gives NoneType\.$"),
        ("factories_for_test:three", r"but gives \(Sequential, tuple, int\)\.$"),
        ("factories_for_test:", "There is no file or folder"),
    ],
)
def test_every_failure_is_one_sentence(target: str, message: str) -> None:
    with pytest.raises(UnsupportedTargetError, match=message) as caught:
        load_subject(target)
    assert "\n" not in str(caught.value)
    assert caught.value.__context__ is None or caught.value.__suppress_context__


def test_an_interrupt_is_not_taken_for_a_failure() -> None:
    with pytest.raises(KeyboardInterrupt):
        load_subject("factories_for_test:interrupted")


def test_a_factory_that_goes_to_another_folder_moves_nobody(tmp_path: Path) -> None:
    subject = load_subject("factories_for_test:wanders")
    assert Path.cwd() == tmp_path
    assert subject.module(**subject.example).shape == (2, 12, 3)


def test_a_factory_that_removes_the_current_folder_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    for said in ("removed the current folder", "The current folder does not exist any more"):
        with pytest.raises(UnsupportedTargetError, match=said):
            load_subject("factories_for_test:homeless")
    monkeypatch.chdir("/")
