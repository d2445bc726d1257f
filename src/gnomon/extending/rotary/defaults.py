"""The length that a family's class in transformers has for a config that states none (Falcon, Gemma 3)."""

from functools import cache

from gnomon.adapters.checkpoints.transformers_models import quiet_transformers
from gnomon.adapters.subject import MissingEvidence
from gnomon.extending.rotary.held import whole


@cache
def class_length(model_type: str) -> int | None:
    """max_position_embeddings of the class; None where transformers is not installed, or has no such family."""
    try:
        with quiet_transformers():
            import transformers

            made = transformers.AutoConfig.for_model(model_type)
            return whole(getattr(made.get_text_config(), "max_position_embeddings", None))
    except _errors():
        return None


def _errors() -> tuple[type[Exception], ...]:
    """What names raise that transformers does not know, and classes whose own defaults do not pass their validators.

    Tried over all names of transformers 5.24: musicgen and nougat raise ValueError, gemma4_assistant the last one.
    """
    known = (ImportError, MissingEvidence, ValueError)
    try:
        from huggingface_hub.errors import StrictDataclassError
    except ImportError:
        return known
    return (*known, StrictDataclassError)
