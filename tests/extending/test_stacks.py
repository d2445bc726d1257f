"""What no engine can serve is not written."""

from pathlib import Path

import pytest

from gnomon.errors import GnomonError
from gnomon.extending import extend
from gnomon.extending import folder as folders
from gnomon.extending.stacks import StackRow, require_served
from gnomon.report.resolved.document import Verdict
from tests.helpers.rotary_folders import config_folder, tiny

LLAMA = tiny("llama", rope_theta=5e5)


def _stopping(*verdicts: Verdict) -> tuple[StackRow, ...]:
    return tuple(StackRow(f"s{i}", verdict, None, "it ends with an error") for i, verdict in enumerate(verdicts))


def test_what_no_stack_can_serve_is_refused_unless_forced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = config_folder(tmp_path / "a", LLAMA)
    monkeypatch.setattr(folders, "rows_of", lambda *_: _stopping("absent", "stops"))
    with pytest.raises(GnomonError, match=r"^No engine could serve the result \(s1: it ends with an error\)"):
        extend(source, tmp_path / "b", to=256)
    assert list(tmp_path.iterdir()) == [source]
    assert extend(source, tmp_path / "b", to=256, force=True).output == tmp_path / "b"


@pytest.mark.parametrize("verdict", ["reference", "equal", "differs", "unknown"])
def test_one_stack_that_computes_something_is_enough(verdict: Verdict) -> None:
    require_served(_stopping("stops", verdict))
    require_served(())
