"""Small Transformers to build, test and teach with. Decoder and encoder take any encoding; XLNet has its own."""

from gnomon.models.decoder import Decoder
from gnomon.models.embedding import TokenEmbedding
from gnomon.models.encoder import Encoder
from gnomon.models.options import EmbeddingOptions, ModelOptions
from gnomon.models.permutation import PermutationBatch, PermutationCollator
from gnomon.models.xlnet import XLNet, XLNetOutput
from gnomon.models.xlnet_options import XLNetOptions
from gnomon.models.xlnet_weights import load_xlnet, load_xlnet_state

__all__ = [
    "Decoder",
    "EmbeddingOptions",
    "Encoder",
    "ModelOptions",
    "PermutationBatch",
    "PermutationCollator",
    "TokenEmbedding",
    "XLNet",
    "XLNetOptions",
    "XLNetOutput",
    "load_xlnet",
    "load_xlnet_state",
]
