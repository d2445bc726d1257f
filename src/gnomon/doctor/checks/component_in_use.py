"""PE327: a bare position module that is right at first, and not for a long input, a second call or another dtype."""

from collections.abc import Iterator

from gnomon.adapters.subject import Subject
from gnomon.doctor.check import check
from gnomon.doctor.evidence.component import component
from gnomon.doctor.evidence.component_use import use_faults
from gnomon.report.document import Finding, Measured


@check("PE327", "component-in-use", severity="error", needs=(component,))
def component_in_use(subject: Subject) -> Iterator[Finding | Measured]:
    """A position module gives too few rows for a long input, remembers an earlier call, or changes when it is cast.

    Why: these do not show in the first short call. A module that silently gives only the rows it has breaks its caller
    with a mismatch of sizes; one that keeps a table by its length serves it to a call that needs another; one whose
    frequencies follow the model to bfloat16 cannot tell far positions apart.

    Fix: raise a ValueError that names both lengths, or extend the table; cut what is kept to the call at hand; keep
    frequencies and angles in float32 and round only the finished sine and cosine.

    Sources: speechbrain/speechbrain#2071, lucidrains/rotary-embedding-torch#11, InternLM/InternLM#237 (buffers that
    follow the model to bfloat16).
    """
    found = component(subject)
    yield Measured("what the module gives", found.kind, None, f"called as {found.called}")
    yield from use_faults(found)
