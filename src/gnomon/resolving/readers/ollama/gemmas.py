"""ollama's converters of the Gemma models."""

from gnomon.resolving.readers.ollama.fields import Fields
from gnomon.resolving.readers.ollama.made import ORIGINAL, SCALING, Converted, Values
from gnomon.resolving.rules.keys import Keys


def gemma2(fields: Fields, file: Keys) -> Converted:
    """Gemma and Gemma 2: no base is written."""
    file.lose("rope_theta", "the converter does not write it")
    return Converted("gemma2", _sizes(fields))


def gemma(fields: Fields, file: Keys) -> Converted:
    """As Gemma 2."""
    return Converted("gemma", gemma2(fields, file).values)


def _sizes(fields: Fields) -> Values:
    return {
        "context_length": fields.whole("max_position_embeddings"),
        "embedding_length": fields.whole("hidden_size"),
        "block_count": fields.whole("num_hidden_layers"),
        "attention.head_count": fields.whole("num_attention_heads"),
        "attention.key_length": fields.whole("head_dim"),
        "attention.sliding_window": fields.whole("sliding_window"),
    }


def gemma3(fields: Fields, file: Keys) -> Converted:
    """Both bases and YaRN alone, from the top level."""
    block = fields.inner(SCALING)
    values = _sizes(fields)
    values["rope.local.freq_base"] = fields.number("rope_local_base_freq", default=1e4)
    values["rope.freq_base"] = fields.number("rope_theta", default=1e6)
    kind, factor = block.text("rope_type"), block.number("factor")
    if kind.value == "yarn" and factor.value > 0:
        values["rope.scaling.type"], values["rope.scaling.factor"] = kind, factor
        values["rope.scaling.original_context_length"] = block.whole(ORIGINAL)
        for name in ("beta_fast", "beta_slow", "extrapolation_factor"):
            file.part(SCALING).lose(name, "written under a name that llama.cpp does not read")
    return Converted("gemma3", values)


def gemma3_with_images(fields: Fields, file: Keys) -> Converted:
    """The text model's sizes come from the inner config, its bases from ollama's compatibility patch."""
    inner = fields.inner("text_config")
    values = _sizes(inner)
    values["context_length"] = fields.whole("max_position_embeddings", default=131072)
    values["attention.key_length"] = inner.whole("head_dim", default=256)
    values["rope.freq_base"] = fields.number("rope_theta", default=1e6)
    values["rope.local.freq_base"] = fields.number("rope_local_base_freq", default=1e4)
    return Converted("gemma3", values)
