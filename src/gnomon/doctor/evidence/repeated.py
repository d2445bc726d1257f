"""Attentions of a forward in which every place of a row holds the same token: what varies there is position."""

from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.doctor.evidence.attending import AttentionCall, attention_calls
from gnomon.doctor.evidence.base import evidence
from gnomon.doctor.evidence.calling import model

TOKENS = 12  # rows, each of one token. A rotation is a mixture of two lanes: a few rows would do
LENGTHS = (13, 19)


@evidence
def repeated_calls(subject: Subject) -> tuple[tuple[AttentionCall, ...], ...]:
    """The self-attentions of a forward on repeated tokens, for a shorter and a longer input."""
    probe = model(subject)
    found = []
    lengths = sorted({probe.length(length) for length in LENGTHS})
    content = probe.draw(TOKENS, lengths[-1], seed=5)
    repeated = content[:, :1].expand_as(content).contiguous()
    for length in lengths:
        calls = attention_calls(probe, repeated[:, :length])
        found.append(tuple(call for call in calls if _sees_itself(call)))
    if not found[-1]:
        raise MissingEvidence("no attention was seen whose queries and keys can be read")
    return tuple(found)


def _sees_itself(call: AttentionCall) -> bool:
    return call.query.shape[1] == call.key.shape[1] > 2
