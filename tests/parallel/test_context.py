"""How rows are spread is checked when it is said."""

from typing import Any

import pytest

from gnomon.errors import GnomonError, PositionError
from gnomon.parallel import ContextParallel


@pytest.mark.parametrize("scheme", ["nonsense", None, 3, ["zigzag"]])
def test_another_scheme_is_refused_at_once(scheme: Any) -> None:
    with pytest.raises(PositionError, match="is one of contiguous, zigzag, round_robin, got "):
        ContextParallel(scheme)


def test_what_is_no_group_is_refused_at_once() -> None:
    with pytest.raises(GnomonError, match=r"^A group is a torch\.distributed\.ProcessGroup of this process, or None"):
        ContextParallel("zigzag", "all")  # type: ignore[arg-type]
