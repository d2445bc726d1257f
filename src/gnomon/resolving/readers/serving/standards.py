"""The config as the transformers of a stack's time holds it."""

from collections.abc import Mapping
from typing import Any

from gnomon.resolving.readers import transformers4, transformers5
from gnomon.resolving.readers.transformers5 import Standard
from gnomon.resolving.rules.choices import Choices


def standard_for(config: Mapping[str, Any], choices: Choices) -> Standard:
    """By `source`. Raises StackStops where building the class fails, NoSuchModel for a model that it does not have."""
    if choices.source == "transformers 4":
        return transformers4.standardised(config)
    return transformers5.standardised(config)
