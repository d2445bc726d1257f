"""`python -m gnomon` is the command, so that launchers can start it as a module."""

import subprocess
import sys


def test_the_module_is_the_command() -> None:
    ended = subprocess.run(
        [sys.executable, "-m", "gnomon", "lab", "nosuch"], capture_output=True, text=True, check=False
    )
    assert ended.returncode == 2
    assert ended.stderr.startswith("gnomon: No suite is called 'nosuch'.")
