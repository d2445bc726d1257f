"""An extension that is worked out and not yet written: what it will do can be read, and refused, before it is done."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from pathlib import Path

from gnomon.extending.extended import Extended

Told = Callable[[str], None]


class Prepared(ABC):
    """`shown` says what will be done; nothing of it is written yet."""

    shown: Extended

    def __str__(self) -> str:
        """What will be done."""
        return str(self.shown)

    @abstractmethod
    def require_output(self, output: Path) -> None:
        """Raises GnomonError when the output is there already, or cannot be made where it should stand."""

    @abstractmethod
    def write(self, output: Path, progress: Told = lambda _: None) -> Extended:
        """Writes it whole or not at all; raises GnomonError with one sentence."""
