"""Encoder families and encoder-decoder families. Facts from the code of transformers 5.24.0; a family is one entry."""

from gnomon.adapters.families.entry import DECODER_TABLE, FIXED, T5_BIAS, based, decoder, encoder, encoder_decoder
from gnomon.adapters.families.rotary_rule import Rotation
from gnomon.adapters.families.rules import LearnedTable, NotBuilt, SinusoidTable, Switch, extra_rows, rows_after_padding

BERT_TABLE = r"(^|\.)embeddings\.position_embeddings\.weight$"
ENCODER_TABLE = r"(^|\.)encoder\.embed_positions\.weight$"
SHAW = (NotBuilt("shaw"),)
BERT = Switch(
    "position_embedding_type",
    "absolute",
    {"absolute": (LearnedTable(BERT_TABLE),), "relative_key": SHAW, "relative_key_query": SHAW},
)
ROBERTA = Switch(
    "position_embedding_type",
    "absolute",
    {
        "absolute": (LearnedTable(BERT_TABLE, rows=rows_after_padding),),
        "relative_key": SHAW,
        "relative_key_query": SHAW,
    },
)
FACTORISED = LearnedTable(BERT_TABLE, width=("embedding_size", "hidden_size"))
DISENTANGLED = NotBuilt(
    "deberta",
    options={
        "max_relative_positions": ("max_relative_positions",),
        "position_buckets": ("position_buckets",),
        "terms": ("pos_att_type",),
    },
    tables=(r"(^|\.)encoder\.rel_embeddings\.weight$",),
)
MODERNBERT = Rotation(
    kinds={
        "full_attention": based(160_000.0, "global_rope_theta"),
        "sliding_attention": based(10000.0, "local_rope_theta"),
    }
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
    encoder("mpnet", rules=(LearnedTable(BERT_TABLE, rows=rows_after_padding), T5_BIAS)),
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
            Switch("relative_attention", False, {True: (DISENTANGLED,), False: ()}),
        ),
    ),
    encoder("modernbert", rules=(MODERNBERT,)),
    decoder("modernbert-decoder", rules=(MODERNBERT,)),
    encoder("roformer", rules=(Rotation("interleaved", FIXED, tables=(r"(^|\.)encoder\.embed_positions\.weight$",)),)),
    encoder("nomic_bert", rules=(Rotation(base=based(1000.0, "rope_theta", "rotary_emb_base")),)),
    encoder("eurobert", rules=(Rotation(),)),
    encoder_decoder("t5", "mt5", "umt5", "longt5", "switch_transformers", rules=(T5_BIAS,)),
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
