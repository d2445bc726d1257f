"""Imports only go down: every package knows those below it and none above."""

from pathlib import Path

import pytest

from tests.helpers.floors import FLOORS, violations

PACKAGE = Path(__file__).parents[2] / "src" / "gnomon"


def test_imports_only_go_down() -> None:
    assert violations(PACKAGE) == []


def test_every_package_has_a_floor() -> None:
    names = {path.stem for path in PACKAGE.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()}
    assert names - {"__init__"} <= set(FLOORS)


@pytest.mark.parametrize(
    ("code", "other"),
    [
        ("import gnomon.doctor", "doctor"),
        ("from gnomon.doctor.check import registry", "doctor"),
        ("from gnomon import doctor", "doctor"),
        ("from gnomon import errors, diagnose", "doctor"),
        ("def f():\n    from gnomon.cli.app import app", "cli"),
        ("if TYPE_CHECKING:\n    from gnomon.models import Decoder", "models"),
        ("import gnomon\ngnomon.encodings.build('alibi')", "encodings"),
        ("import importlib\nimportlib.import_module('gnomon.encodings')", "encodings"),
        ("from gnomon.unheard_of import thing", "unheard_of"),
        ("from ..doctor import check", "relative import of doctor"),
    ],
)
def test_an_import_that_goes_up_is_caught(tmp_path: Path, code: str, other: str) -> None:
    (tmp_path / "plots").mkdir()
    (tmp_path / "plots" / "bad.py").write_text(code)
    [line] = violations(tmp_path)
    assert line.startswith("plots/bad.py:")
    assert line.endswith(f"plots imports {other}")


def test_imports_that_go_down_or_stay_are_silent(tmp_path: Path) -> None:
    (tmp_path / "doctor").mkdir()
    good = "import gnomon\nfrom gnomon.doctor.check import check\nfrom gnomon import errors\nprint(gnomon.__version__)"
    (tmp_path / "doctor" / "good.py").write_text(good)
    assert violations(tmp_path) == []
