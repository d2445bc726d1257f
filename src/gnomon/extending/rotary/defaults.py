"""The length that a family's class in transformers has for a config that states none (Falcon, Gemma 3)."""

from functools import cache

from gnomon.adapters.checkpoints.transformers_models import quiet_transformers
from gnomon.extending.rotary.held import whole


@cache
def class_length(model_type: str) -> int | None:
    """max_position_embeddings of the class; None where transformers is not installed, or has no such family."""
    try:
        with quiet_transformers():
            import transformers

            made = transformers.AutoConfig.for_model(model_type)
            return whole(getattr(made.get_text_config(), "max_position_embeddings", None))
    except Exception:  # noqa: BLE001  transformers raises every kind of error for a name or default that it dislikes
        return None
