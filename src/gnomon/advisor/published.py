"""Numbers from published tables that rules cite, each with its source; others' measurements, not repeated here."""

from gnomon.report.advice.document import Evidence

#: Press et al. 2022, table 2: causal language models trained at 512 tokens, perplexity at each length of their texts.
PRESS_TRAINED = 512
PRESS_ENCODINGS = ("sinusoidal", "rotary", "t5", "alibi")
PRESS = {
    512: (20.05, 20.07, 19.65, 19.73),
    612: (20.59, 19.81, 19.27, 19.38),
    712: (24.86, 19.79, 19.10, 19.14),
    1012: (43.54, 21.37, 18.79, 18.73),
    1512: (76.23, 25.99, 18.91, 18.52),
    2512: (132.4, 31.58, 20.41, 18.41),
    5512: (240.4, 43.14, 29.54, 18.36),
    10512: (341.5, 60.77, 52.95, 18.32),
}


def table(statement: str, source: str) -> Evidence:
    """A published measurement."""
    return Evidence("published table", statement, source)


def arithmetic(statement: str, source: str = "by hand") -> Evidence:
    """A sum or an identity that anyone can check."""
    return Evidence("arithmetic", statement, source)


def press(encoding: str, stretch: float) -> Evidence:
    """What that table has for an encoding at the trained length and at the row nearest to `stretch` times it.

    >>> press("alibi", 2.0).statement
    'causal language models trained at 512 tokens: perplexity 19.73 at 512, 18.73 at 1012'
    """
    column = PRESS_ENCODINGS.index(encoding)
    row = min((length for length in PRESS if length > PRESS_TRAINED), key=lambda it: abs(it / PRESS_TRAINED - stretch))
    start, end = PRESS[PRESS_TRAINED][column], PRESS[row][column]
    return table(
        f"causal language models trained at {PRESS_TRAINED} tokens: perplexity {start} at {PRESS_TRAINED}, "
        f"{end} at {row}",
        "Press et al. 2022, arXiv:2108.12409, table 2",
    )


KERPLE_LENGTHS = table(
    "causal language models trained at 512 tokens, perplexity of the last 256 at 512, 1024, 2048, 4096 and 8192: "
    "KERPLE 4.58, 4.35, 5.44, 8.75, 13.35; ALiBi 4.61, 4.55, 4.87, 5.03, 4.77; T5 4.55, 4.37, 12.1, 164, 595",
    "DAPE, Zheng et al. 2024, arXiv:2405.14722, table 5",
)
TRANSFORMER_XL_LENGTHS = table(
    "causal language models trained at 128 tokens: perplexity 31.57 at 128 and 41.12 at 8192",
    "DAPE, Zheng et al. 2024, arXiv:2405.14722, table 6",
)
NOPE_LENGTHS = table(
    "1.3 billion parameters trained at 1024 on code: documents of 1500 to 1750 tokens at a context of 1400 give 2.121 "
    "(ALiBi 2.307, rotary 251.7), those of 2250 to 2500 at 2048 give 146 (ALiBi 44.1)",
    "Kazemnejad et al. 2023, arXiv:2305.19466",
)
NOPE_SIZES = table(
    "causal language models of 125M, 350M, 760M and 1.3B parameters, perplexity: none 22.15, 16.87, 14.29, 13.10; "
    "ALiBi 19.94, 15.66, 13.53, 12.51",
    "Haviv et al. 2022, arXiv:2203.16634, table 2",
)
SINUSOID_SIZES = table(
    "causal language models of 125M, 350M, 760M and 1.3B parameters, perplexity: sinusoids 21.49, 16.58, 14.04, "
    "12.93; ALiBi 19.94, 15.66, 13.53, 12.51",
    "Haviv et al. 2022, arXiv:2203.16634, table 2",
)
ORDER_BLIND = table(
    "a masked language model of 128 tokens: perplexity 147.18 without positions, 4.06 with a learned table",
    "Haviv et al. 2022, arXiv:2203.16634, table 4",
)
IN_DOMAIN = table(
    "causal language models of 124M, 350M and 1B parameters, perplexity at the trained length: rotary with base "
    "500000 18.92, 15.10, 17.67; none 250.6, 20.15, 19.56",
    "DaRoPE, Levy et al. 2026",
)
TRANSLATION = table(
    "WMT14 English-German: 27.3 BLEU with sinusoids, 27.5 with rotary", "Su et al. 2021, arXiv:2104.09864, table 1"
)
ENCODERS = table(
    "encoders on similar cases of law (CAIL2019-SCM), accuracy on the test part at 512 tokens: WoBERT with a table "
    "68.10, with rotary instead 68.29; at 1024 tokens 69.79",
    "Su et al. 2021, arXiv:2104.09864, table 5",
)
CONVERGENCE = table(
    "causal language models of 125M parameters, perplexity after 55,000 steps: learned 16.59, T5 bias 16.46, rotary "
    "15.78",
    "EleutherAI 2021, Rotary Embeddings: A Relative Revolution",
)
NEEDLES = table(
    "causal language models of 494M parameters, needles found at twice the trained length, several queries, keys and "
    "values: rotary 0, 0, 0; with YaRN 17.8, 0.5, 14.6; ALiBi 5.2, 0, 1.1; none 9.2, 36.2, 21.4",
    "DroPE, Gelberg et al. 2025, arXiv:2512.12167",
)
SPANS = table(
    "BERT-base on SQuAD 1: F1 88.52 with absolute, 90.54 with relative keys and queries",
    "Huang et al. 2020, arXiv:2009.13658, as in the model card of Hugging Face",
)
OFFSETS = table(
    "unique copying, trained to 50 symbols, exact at 51 to 100 and 101 to 150: learned table with a random offset of "
    "the ids (a relative of random rising ids) 0.9986, 0.9874; no encoding 0.18, 0",
    "Huang et al. 2025, A Formal Framework for Understanding Length Generalization in Transformers",
)
ALGORITHMS = table(
    "mean reciprocal rank over tasks at up to twice the trained length: none 0.69, T5 bias 0.55, ALiBi 0.50, "
    "rotary 0.33, sinusoids 0.22",
    "Kazemnejad et al. 2023, arXiv:2305.19466, figure 1",
)
SPEED = table(
    "words per second on a V100 in training and in evaluation at 512 tokens: sinusoids 28.5k, 82.1k; rotary 20.0k, "
    "43.4k (authors' note: 2 percent slower when optimised); T5 bias 14.4k, 21.8k; ALiBi 28.3k, 85.8k",
    "Press et al. 2022, arXiv:2108.12409, table 1",
)
VISION = table(
    "DeiT-III, top-1 at 224 and 384 pixels, small: table 80.4, 79.4; axial rotary 80.9, 80.0; mixed 80.9, 81.8; "
    "large: 84.6, "
    "84.2; 84.7, 85.1; 84.8, 85.6",
    "Heo et al. 2024, arXiv:2403.13298",
)
DIRECT = table(
    "LLaMA 7B, trained at 2048: perplexity 7.20 at 2048, above 1000 at 4096",
    "Chen et al. 2023, arXiv:2306.15595, table 1",
)
INTERPOLATED_AT_ONCE = table(
    "LLaMA 7B with position interpolation before fine-tuning: perplexity 16.10 at 8192 and 112.13 at 16384; "
    "after 200 steps "
    "7.12 and 7.05",
    "Chen et al. 2023, arXiv:2306.15595, table 3",
)
EXTENDED = table(
    "Llama 2 7B, twice the length, perplexity at 2k, 8k and 10k: interpolation 3.92, 3.34, 8.07 (1B tokens); "
    "NTK-aware 4.20, "
    "3.59, 6.24 (1B); YaRN 3.91, 3.35, 6.04 (400M)",
    "Peng et al. 2023, arXiv:2309.00071, table 1",
)
NEEDLES_AT_ONCE = table(
    "causal language models of 494M parameters without further training, needles found at twice the trained length, "
    "several queries, keys and values: plain 0, 0, 0; interpolation 0, 0, 0; NTK-aware 21.1, 19.4, 16.5; YaRN 17.8, "
    "0.5, 14.6",
    "DroPE, Gelberg et al. 2025, arXiv:2512.12167",
)
YARN_AT_ONCE = table(
    "YaRN without training costs inside the window: perplexity 19.1 against 17.2 to 17.5", "DaRoPE, Levy et al. 2026"
)
FAR_EXTENDED = table(
    "Llama 2 at 2M tokens: LongRoPE 7.08, YaRN 8.27, interpolation 20.17",
    "LongRoPE, Ding et al. 2024, arXiv:2402.13753",
)
BASES = table(
    "causal language models, the least base for each context length, 1k to 1M",
    "Men et al. 2024, arXiv:2405.14591, table 2",
)
