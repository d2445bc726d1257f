"""PE103: the width that the config says is rotated cannot be rotated."""

from collections.abc import Iterator

from gnomon.adapters.subject import Subject
from gnomon.doctor.check import check
from gnomon.doctor.evidence.base import attempt
from gnomon.doctor.evidence.expected import claims_of, rotary_dim
from gnomon.report.document import Finding, Measured


@check("PE103", "rotary-width", severity="error", needs=("claims",))
def rotary_width(subject: Subject) -> Iterator[Finding | Measured]:
    """The rotated width is odd or wider than the head, or the heads do not divide the hidden size.

    Why: a rotation turns pairs of numbers. An odd width leaves one number without a partner: code either fails with a
    shape error, or drops or mixes the last lane without a word.

    Fix: rotate an even part of the head (partial rotary: `partial_rotary_factor`, `rotary_pct` or `rotary_dim`), and
    make the hidden size a multiple of the number of heads.

    Sources: Su et al. 2021, arXiv:2104.09864, equation 15; transformers issue 48630 (frequencies for the whole head
    while a part is rotated), MiniMax-M2 in transformers issue 48241 (`rotary_dim` not read, so every lane is
    rotated).
    """
    config = attempt(lambda s: s.config, subject) or {}
    for claim in claims_of(subject, "rotary"):
        head, width = claim.options.get("head_dim"), rotary_dim(claim)
        yield Measured(f"rotated width of {claim.where}", width, head, "even, and no wider than the head")
        hidden, heads = (config.get(key) for key in ("hidden_size", "num_attention_heads"))
        derived = claim.keys.get("head_dim") != "head_dim"
        if derived and isinstance(hidden, int) and isinstance(heads, int) and heads > 0 and hidden % heads:
            yield Finding(
                "config.json",
                f"hidden_size {hidden} is not a multiple of num_attention_heads {heads}, and no head_dim is given",
                "give head_dim, or make hidden_size a multiple of the number of heads",
                {"hidden_size": hidden, "num_attention_heads": heads},
            )
        if width % 2 or width < 2:
            yield Finding(
                claim.where,
                f"the rotated width is {width}; pairs need an even width of at least 2",
                f"rotate {max(width - width % 2, 2)} of the {head} lanes (partial rotary)",
                {"rotary_dim": width, "head_dim": head},
            )
        if isinstance(head, int) and width > head:
            yield Finding(
                claim.where,
                f"the rotated width {width} is wider than the head, {head}",
                f"set the rotated width to at most {head}",
                {"rotary_dim": width, "head_dim": head},
            )
