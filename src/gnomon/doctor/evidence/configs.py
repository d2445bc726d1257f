"""The parts of a config: models of several towers keep one for each, such as `text_config` and `vision_config`."""

from collections.abc import Iterator, Mapping
from typing import Any

TOWERS = ("encoder", "decoder", "generator")


def config_parts(config: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The config and every config inside it, each with the dotted prefix of its keys.

    >>> [prefix for prefix, _ in config_parts({"text_config": {"hidden_size": 8}, "rope_scaling": {"factor": 2}})]
    ['', 'text_config.']
    """
    yield prefix, config
    for key, value in config.items():
        if isinstance(value, Mapping) and (key.endswith("_config") or key in TOWERS):
            yield from config_parts(value, f"{prefix}{key}.")
