"""The page on fine-tuning names what there is, and its examples run."""

import re
import subprocess
import sys
from pathlib import Path

import gnomon.finetune

PAGE = (Path(__file__).parents[2] / "docs" / "finetune.md").read_text(encoding="utf-8")


def test_the_page_names_every_public_function() -> None:
    assert [name for name in gnomon.finetune.__all__ if name not in PAGE] == []


def test_the_examples_run_each_on_its_own() -> None:
    blocks = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    assert len(blocks) == 5
    program = "".join(f"exec({block!r}, {{}})\n" for block in blocks)
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr


def test_every_public_name_exists() -> None:
    assert all(callable(getattr(gnomon.finetune, name)) for name in gnomon.finetune.__all__)
