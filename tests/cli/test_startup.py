"""Help and version answer at once: nothing heavy is imported for them."""

import subprocess
import sys

import pytest

HEAVY = ("torch", "numpy", "transformers", "matplotlib", "plotly", "gguf")
CODE = f"""
import atexit, sys
from gnomon.cli import main
atexit.register(lambda: print("heavy:", [name for name in {HEAVY} if name in sys.modules]))
sys.argv[0] = "gnomon"
main()
"""
COMMANDS = ("doctor", "inspect", "lint", "explain", "list", "plot", "env", "resolve", "extend")


def run(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", CODE, *words], capture_output=True, text=True, check=False)


@pytest.mark.parametrize("words", [("--help",), ("-h",), ("--version",), *((name, "--help") for name in COMMANDS)])
def test_help_and_version_import_nothing_heavy(words: tuple[str, ...]) -> None:
    ended = run(*words)
    assert ended.returncode == 0
    assert ended.stdout.endswith("heavy: []\n")


def test_help_names_every_command_and_the_exit_codes() -> None:
    text = run("--help").stdout
    assert all(f"  {name} " in text for name in (*COMMANDS, "lab"))
    assert "0 nothing found, 1 findings at error level, 2 could not run" in text
    assert "..." not in text.replace("[ARGS]...", "")  # every command's line is whole


def test_the_import_test_can_fail() -> None:
    assert "'torch'" in run("list", "encodings").stdout


def test_without_a_command_the_help_is_shown_and_the_exit_code_is_2() -> None:
    ended = run()
    assert ended.returncode == 2
    assert "Commands:" in ended.stdout + ended.stderr
