"""What a run that was killed outright has left beside its output: named, and never deleted."""

from collections.abc import Callable
from pathlib import Path


def tell_of_remains(output: Path, tell: Callable[[str], None]) -> None:
    """One sentence where there are such remains."""
    from gnomon.adapters.checkpoints.whole import remains_of

    if found := remains_of(output):
        names = ", ".join(path.name for path in found)
        tell(f"an earlier run left {names} in {output.parent}; delete that, unless a run still writes it")
