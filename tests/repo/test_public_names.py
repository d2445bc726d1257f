"""Every public name exists, and none costs anything before it is used."""

import importlib
import subprocess
import sys

import pytest

import gnomon

HEAVY = ("torch", "numpy", "transformers", "matplotlib", "plotly", "gguf", "rich", "typer")


@pytest.mark.parametrize("name", gnomon.__all__)
def test_every_public_name_exists(name: str) -> None:
    assert getattr(gnomon, name) is not None
    assert name in dir(gnomon)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'diagnosis'"):
        gnomon.diagnosis  # noqa: B018


def test_the_version_is_that_of_the_installed_package() -> None:
    assert importlib.import_module("importlib.metadata").version("gnomon") == gnomon.__version__


def test_importing_gnomon_imports_nothing_heavy() -> None:
    code = f"import gnomon, sys; print([name for name in {HEAVY} if name in sys.modules])"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "[]"


def test_a_star_import_brings_every_public_name() -> None:
    code = "from gnomon import *; print(Report, diagnose, positions, encodings)"
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)


@pytest.mark.parametrize("package", ["encodings", "attention", "models", "plots", "doctor", "parallel", "finetune"])
def test_every_name_that_a_package_exports_exists(package: str) -> None:
    module = importlib.import_module(f"gnomon.{package}")
    exported = list(module.__all__)
    assert exported
    assert [name for name in exported if not hasattr(module, name)] == []


def test_reports_and_figures_never_import_torch() -> None:
    modules = "gnomon.report.text, gnomon.report.github, gnomon.report.html, gnomon.plots"
    code = f"import {modules}, sys; print('torch' in sys.modules)"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "False"
