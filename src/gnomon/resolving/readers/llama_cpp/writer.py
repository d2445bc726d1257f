"""What a converter has written so far: metadata, lists of divisors, and what it did not write, each with its place."""

from collections.abc import Mapping
from typing import Any, final

from gnomon.adapters.families.config_reader import Found
from gnomon.resolving.readers.llama_cpp.metadata import ARCHITECTURE, written
from gnomon.resolving.readers.llama_cpp.sources import Source
from gnomon.resolving.reading import DEFAULT
from gnomon.resolving.rules.keys import Keys
from gnomon.resolving.stopping import StackStops


@final
class Writer:
    """Names are those of GGUF keys without the architecture: `rope.freq_base`."""

    def __init__(self, source: Source, file: Keys) -> None:
        self.source = source
        self.file = file
        self.block = file.laid(source.block.values, source.block.origins)
        self.values: dict[str, Found] = {}
        self.factors: dict[str, tuple[float, ...]] = {}
        self.notes: list[str] = []

    def put(self, name: str, value: Any, origin: str = DEFAULT) -> None:
        """Writes a key; `origin` is the place of the file that it came from. Nothing is written for None."""
        if value is not None:
            self.values[name] = Found(value, origin)

    def copy(self, name: str, found: Found) -> None:
        """Writes what was found, if anything was."""
        self.put(name, found.value, found.key)

    def needed(self, name: str, found: Found, key: str) -> Any:
        """As `copy`, where the converter ends without the key."""
        if found.value is None:
            raise StackStops(f"KeyError: {key!r}")
        self.copy(name, found)
        return found.value

    @property
    def keys(self) -> Keys:
        """What was written, as the runtime reads it; what it takes is noted under the places of the file."""
        return written(self.file, self.values)

    @property
    def metadata(self) -> Mapping[str, Any]:
        """The same with the names of a GGUF file.

        Only what bears on positions is in it.
        """
        name = self.source.architecture
        return {ARCHITECTURE: name, **{f"{name}.{suffix}": found.value for suffix, found in self.values.items()}}
