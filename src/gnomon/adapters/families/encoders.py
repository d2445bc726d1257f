"""Encoder families and encoder-decoder families. Facts from the code of transformers 5.24.0; a family is one entry."""

from gnomon.adapters.families.config_reader import HEADS, LENGTH, ConfigReader, Found
from gnomon.adapters.families.deberta_rule import Disentangled
from gnomon.adapters.families.entry import DECODER_TABLE, FIXED, based, decoder, encoder, encoder_decoder
from gnomon.adapters.families.layer_kinds import OneInEvery
from gnomon.adapters.families.rotary_rule import Rotation
from gnomon.adapters.families.rules import (
    LearnedTable,
    SinusoidTable,
    Stated,
    Switch,
    extra_rows,
    extra_rows_after_padding,
    reserved_rows,
    rows_after_padding,
)


def furthest(config: ConfigReader) -> Found:
    """The distance between the first and the last position: transformers 4 sizes BERT's table of distances by it."""
    length = config.find(*LENGTH)
    return Found(length.integer - 1 if length.integer and length.integer > 1 else None, length.key)


BERT_TABLE = r"(^|\.)embeddings\.position_embeddings\.weight$"
ENCODER_TABLE = r"(^|\.)encoder\.embed_positions\.weight$"
SHAW = Stated(
    "shaw",
    options={"num_heads": HEADS},
    derived={"head_dim": ConfigReader.head_dim, "max_distance": furthest},
    tables=(r"(^|\.)self\.distance_embedding\.weight$",),
)
BERT = Switch(
    "position_embedding_type",
    "absolute",
    {"absolute": (LearnedTable(BERT_TABLE),), "relative_key": (SHAW,)},
)
ROBERTA = Switch(
    "position_embedding_type",
    "absolute",
    {"absolute": (LearnedTable(BERT_TABLE, rows=rows_after_padding),), "relative_key": (SHAW,)},
)
FACTORISED = LearnedTable(BERT_TABLE, width=("embedding_size", "hidden_size"))
MODERNBERT = Rotation(
    kinds={
        "full_attention": based(160_000.0, "global_rope_theta"),
        "sliding_attention": based(10000.0, "local_rope_theta"),
    }
)
GLOBAL_LAYERS = OneInEvery(3, ("global_attn_every_n_layers",), first=True)
BUCKETS = {
    "num_heads": ("num_heads", "num_attention_heads"),
    "num_buckets": ("relative_attention_num_buckets",),
    "max_distance": ("relative_attention_max_distance",),
}
BUCKET_SIZES = {"num_buckets": 32, "max_distance": 128}
T5 = tuple(
    Stated(
        "t5",
        f"{stack}.layers.*.attention",
        BUCKETS,
        BUCKET_SIZES,
        {"direction": direction},
        tables=(rf"(^|\.){stack}\..*relative_attention_bias\.weight$",),
    )
    for stack, direction in (("encoder", "both"), ("decoder", "causal"))
)
MPNET_BIAS = Stated(
    "t5",
    options={name: keys for name, keys in BUCKETS.items() if name != "max_distance"},
    defaults=BUCKET_SIZES,
    fixed={"max_distance": 128, "direction": "both"},
    tables=(r"(^|\.)relative_attention_bias\.weight$",),
)
FAIRSEQ = tuple(
    SinusoidTable(
        rf"(^|\.){stack}\.embed_positions\.weights$",
        "half",
        "endpoint",
        f"{stack}.embeddings",
        width=("d_model",),
        rows=extra_rows_after_padding,
    )
    for stack in ("encoder", "decoder")
)
CONFORMER = Switch(
    "position_embeddings_type",
    "relative",
    {
        "rotary": (Rotation(base=based(10000.0, "rotary_embedding_base"), tables=(r"embed_positions\.inv_freq$",)),),
        "relative": (
            Stated(
                "transformer_xl",
                options={"num_heads": HEADS, "dim": ("hidden_size",)},
                derived={"head_dim": ConfigReader.head_dim},
                tables=(r"(^|\.)self_attn\.(pos_bias_[uv]|linear_pos\.weight)$",),
            ),
        ),
    },
)


ENTRIES = (
    encoder("bert", "mobilebert", "megatron-bert", "bert-generation", "layoutlm", "ernie", rules=(BERT,)),
    encoder("electra", "albert", rules=(FACTORISED,)),
    encoder(
        "distilbert",
        rules=(
            Switch(
                "sinusoidal_pos_embds",
                False,
                {
                    False: (LearnedTable(BERT_TABLE),),
                    True: (SinusoidTable(BERT_TABLE, layout="interleaved", exponent="paper"),),
                },
            ),
        ),
    ),
    encoder(
        "roberta", "xlm-roberta", "camembert", "roberta-prelayernorm", "longformer", "data2vec-text", rules=(ROBERTA,)
    ),
    encoder("mpnet", rules=(LearnedTable(BERT_TABLE, rows=reserved_rows(2)), MPNET_BIAS)),
    encoder(
        "esm",
        rules=(
            Switch(
                "position_embedding_type",
                "absolute",
                {
                    "absolute": (LearnedTable(BERT_TABLE, rows=rows_after_padding),),
                    "rotary": (Rotation(tables=(r"rotary_embeddings?\.inv_freq$",)),),
                },
            ),
        ),
    ),
    encoder(
        "deberta",
        "deberta-v2",
        rules=(
            Switch("position_biased_input", True, {True: (FACTORISED,), False: ()}),
            Switch("relative_attention", False, {True: (Disentangled(),), False: ()}),
        ),
    ),
    encoder("modernbert", rules=(MODERNBERT,), kinds=GLOBAL_LAYERS),
    decoder("modernbert-decoder", rules=(MODERNBERT,), kinds=GLOBAL_LAYERS),
    encoder("roformer", rules=(Rotation("interleaved", FIXED, tables=(r"(^|\.)encoder\.embed_positions\.weight$",)),)),
    encoder("nomic_bert", rules=(Rotation(base=based(1000.0, "rope_theta", "rotary_emb_base")),)),
    encoder("eurobert", rules=(Rotation(),)),
    encoder("wav2vec2-conformer", rules=(CONFORMER,)),
    encoder_decoder("t5", "mt5", "umt5", "longt5", "switch_transformers", rules=T5),
    encoder_decoder("m2m_100", rules=FAIRSEQ),
    encoder_decoder(
        "whisper",
        rules=(
            SinusoidTable(
                ENCODER_TABLE,
                "half",
                "endpoint",
                "encoder.embeddings",
                length=("max_source_positions",),
                width=("d_model",),
            ),
            LearnedTable(DECODER_TABLE, "decoder.embeddings", length=("max_target_positions",), width=("d_model",)),
        ),
    ),
    encoder_decoder(
        "bart",
        "mbart",
        "plbart",
        rules=(
            LearnedTable(ENCODER_TABLE, "encoder.embeddings", rows=extra_rows(2), width=("d_model",)),
            LearnedTable(DECODER_TABLE, "decoder.embeddings", rows=extra_rows(2), width=("d_model",)),
        ),
    ),
)
