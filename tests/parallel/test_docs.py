"""The page on many processes: its examples run; its functions are run by two processes, in test_two_processes.py."""

import re
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "parallel.md"


def test_every_example_of_the_page_runs() -> None:
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert len(blocks) >= 6
    for block in blocks:
        exec(block, {})


def test_the_page_names_the_error_that_torch_gives() -> None:
    """The same words as in test_two_processes.py, which sees it."""
    assert "does not have a sharding strategy" in PAGE.read_text(encoding="utf-8").replace("\n", " ")
