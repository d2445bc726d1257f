"""Small Transformers to build, test and teach with. Each takes any position encoding."""

from gnomon.models.decoder import Decoder
from gnomon.models.embedding import TokenEmbedding
from gnomon.models.encoder import Encoder
from gnomon.models.options import EmbeddingOptions, ModelOptions

__all__ = ["Decoder", "EmbeddingOptions", "Encoder", "ModelOptions", "TokenEmbedding"]
