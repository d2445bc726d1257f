"""A healthy model that is examined in half precision is not condemned for its rounding."""

from pathlib import Path

import pytest

from gnomon.doctor import diagnose
from tests.helpers.healthy import FOREIGN


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
@pytest.mark.parametrize("family", ["llama", "gpt-neox, partial", "bert", "gpt-2"])
def test_a_folder_loaded_in_half_precision_has_no_error(tmp_path: Path, family: str, dtype: str) -> None:
    FOREIGN[family]().save_pretrained(tmp_path)  # type: ignore[operator]
    report = diagnose(tmp_path, dtype=dtype)
    assert report.crashed == ()
    assert [(c.code, c.findings) for c in report.failed if c.severity == "error"] == []
    assert report.summary["passed"] >= 8
