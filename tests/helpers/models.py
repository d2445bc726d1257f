"""Small models over every registered encoding, with weights that show faults."""

from gnomon.encodings.base import PositionEncoding, registry
from gnomon.models import Decoder, EmbeddingOptions, Encoder, ModelOptions
from tests.helpers.weights import redraw

HEADS, HEAD_DIM, LAYERS, VOCABULARY = 4, 8, 2, 30
DIM = HEADS * HEAD_DIM
#: Those whose positions are counts of tokens.
NAMES = tuple(name for name, cls in registry if cls.sample(HEADS, HEAD_DIM).axes == 1)
#: Those that an encoder takes too.
BIDIRECTIONAL = tuple(name for name in NAMES if not registry.get(name).sample(HEADS, HEAD_DIM).causal_only)


def options(embedding: EmbeddingOptions | None = None) -> ModelOptions:
    return ModelOptions(
        vocabulary=VOCABULARY,
        dim=DIM,
        num_layers=LAYERS,
        num_heads=HEADS,
        num_key_heads=2,
        embedding=embedding or EmbeddingOptions(),
    )


def sample(name: str) -> PositionEncoding:
    return registry.get(name).sample(HEADS, HEAD_DIM)


def decoder(encoding: PositionEncoding, embedding: EmbeddingOptions | None = None) -> Decoder:
    model = Decoder(options(embedding), encoding=encoding)
    redraw(model)
    return model


def encoder(encoding: PositionEncoding) -> Encoder:
    model = Encoder(options(), encoding=encoding)
    redraw(model)
    return model
