"""The decorator that turns a measurement into evidence: computed once for each subject, then kept."""

import functools
from collections.abc import Callable
from typing import TypeVar

from gnomon.adapters.claims import Claim
from gnomon.adapters.subject import MissingEvidence, Subject

T = TypeVar("T")
DERIVED: set[str] = set()  #: names of the evidence that the doctor derives


def evidence(compute: Callable[[Subject], T]) -> Callable[[Subject], T]:
    """Keep the result on the subject under the function's name; a value the caller passed by that name wins.

    The function raises MissingEvidence, with a reason a person can act on, when the subject cannot give it.
    """

    DERIVED.add(compute.__name__)

    @functools.wraps(compute)
    def recall(subject: Subject) -> T:
        value: T = subject.get(compute.__name__, compute)
        return value

    return recall


def attempt(compute: Callable[[Subject], T], subject: Subject) -> T | None:
    """The evidence, or None when the subject cannot give it: for checks that can do without."""
    try:
        return compute(subject)
    except MissingEvidence:
        return None


def claims(subject: Subject) -> tuple[Claim, ...]:
    """What the config says of positions; empty when there is none to say it."""
    return attempt(lambda s: s.claims, subject) or ()
