"""Claim 15: the article's table of which encoding to choose."""

from typing import final

from gnomon.lab.claims.base import NotMeasurable, claim


@claim(15, "2.3")
@final
class DecisionTable(NotMeasurable):
    """Advice is not measured; what it rests on is, in claims 9, 13 and 22."""

    statement = (
        "Choose sinusoids for lengths that vary (with RoPE beside them) and on small devices, a learned table for "
        "absolute positions at stable lengths, RoPE or ALiBi for relations; sinusoids by default."
    )
    truth = (
        "Partly: new models use RoPE, partial RoPE or layers without positions, sinusoids do not carry a model past "
        "its trained length, and sinusoids beside RoPE count position twice."
    )
    gnomon = "`gnomon advise` takes the table's inputs and explains where it differs"
    why = "Advice for all tasks at once is nothing to measure; claims 9, 13 and 22 measure what it rests on."
