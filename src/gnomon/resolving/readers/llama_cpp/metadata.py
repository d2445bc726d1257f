"""Keys of a GGUF file, seen as nested names under the architecture, with the place that each came from."""

from collections.abc import Iterator, Mapping
from typing import Any

from gnomon.adapters.families.config_reader import Found
from gnomon.resolving.reading import Ignored
from gnomon.resolving.rules.keys import Keys
from gnomon.resolving.stopping import NoSuchModel

ARCHITECTURE = "general.architecture"
#: keys outside `rope.` that bear on positions
POSITIONS = (
    "context_length",
    "attention.scale",
    "attention.temperature_length",
    "attention.temperature_scale",
    "attention.key_length_swa",
)


def nested(flat: Mapping[str, Any]) -> dict[str, Any]:
    """Names with dots as mappings in mappings; a name that runs into a value of another one is left out.

    >>> nested({"rope.freq_base": 1e4, "rope.scaling.type": "yarn", "context_length": 4096})
    {'rope': {'freq_base': 10000.0, 'scaling': {'type': 'yarn'}}, 'context_length': 4096}
    """
    whole: dict[str, Any] = {}
    for name, value in flat.items():
        *outer, last = name.split(".")
        place: Any = whole
        for step in outer:
            place = place.setdefault(step, {})
            if not isinstance(place, dict):
                break
        else:
            place[last] = value
    return whole


def written(file: Keys, values: Mapping[str, Found]) -> Keys:
    """What a converter wrote, as the runtime reads it; what it takes is noted under the places of the config."""
    flat = {name: found.value for name, found in values.items()}
    return file.laid(nested(flat), {name: found.key for name, found in values.items()})


def architecture_of(metadata: Mapping[str, Any]) -> str:
    """general.architecture; raises NoSuchModel for a file without it."""
    name = metadata.get(ARCHITECTURE)
    if not isinstance(name, str) or not name:
        raise NoSuchModel(f"the file has no {ARCHITECTURE}, so no architecture can be chosen")
    return name


def view(metadata: Mapping[str, Any]) -> Keys:
    """The keys under the file's architecture; their paths are those of the file."""
    name = architecture_of(metadata)
    prefix = f"{name}."
    own = {key[len(prefix) :]: value for key, value in metadata.items() if key.startswith(prefix)}
    return Keys({name: nested(own)}).part(name)


def unread(metadata: Mapping[str, Any], keys: Keys) -> Iterator[Ignored]:
    """The keys of a file that bear on positions and were neither taken nor passed over with a reason."""
    name = architecture_of(metadata)
    known = {item.key for item in keys.used()} | {item.key for item in keys.ignored()}
    for key, value in metadata.items():
        _, _, suffix = key.partition(f"{name}.")
        if key not in known and key.startswith(f"{name}.") and (suffix.startswith("rope.") or suffix in POSITIONS):
            yield Ignored(key, value)
