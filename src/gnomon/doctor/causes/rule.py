"""What a rule of joining is, and how rules are applied: a root finding explains the findings that follow from it."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from gnomon.report.cause import Cause
from gnomon.report.document import CheckResult, Finding

Key = tuple[str, int]


@dataclass(frozen=True)
class Rule:
    """`root`: the code of the check that names the cause, and what its finding says, as a regular expression.

    `headline` may use the groups of that expression; left empty, it is the finding's own message. `explains`: codes of
    findings that follow from it, each with what they say ("" for anything).
    """

    name: str
    root: str
    says: str
    explains: Mapping[str, str]
    headline: str = ""


def join(checks: Iterable[CheckResult], rules: Sequence[Rule]) -> tuple[Cause, ...]:
    """The causes of these findings: by the first rule that fits, then those that say the same thing.

    A finding has one cause at most, and a cause joins findings of two checks at least.
    """
    found = {(c.code, i): f for c in checks if c.status == "failed" for i, f in enumerate(c.findings)}
    causes: list[Cause] = []
    for rule in rules:
        causes += _by(rule, found, taken(causes))
    return (*causes, *_alike(found, taken(causes)))


def taken(causes: Iterable[Cause]) -> set[Key]:
    """The findings that already have a cause."""
    return {key for cause in causes for key in cause.findings}


def _by(rule: Rule, found: Mapping[Key, Finding], used: set[Key]) -> Iterator[Cause]:
    """One cause for all findings that this rule explains: several layers with one fault have one cause."""
    roots = [(key, match) for key, finding in found.items() if (match := _root(rule, key, finding, used))]
    if not roots:
        return
    keys = [key for key, _ in roots]
    keys += [
        key
        for key, finding in found.items()
        if key not in used and key not in keys and _says(rule.explains.get(key[0]), finding)
    ]
    if len({code for code, _ in keys}) > 1:
        first, match = roots[0]
        headline = match.expand(rule.headline) if rule.headline else found[first].message
        yield Cause(rule.name, headline, found[first].fix, tuple(keys))


def _root(rule: Rule, key: Key, finding: Finding, used: set[Key]) -> re.Match[str] | None:
    return re.search(rule.says, finding.message) if key[0] == rule.root and key not in used else None


def _says(wanted: str | None, finding: Finding) -> bool:
    return wanted is not None and re.search(wanted, finding.message) is not None


def _alike(found: Mapping[Key, Finding], used: set[Key]) -> Iterator[Cause]:
    """Findings of different checks in the same words: one fault seen in the file and in the forward."""
    by_message: dict[str, list[Key]] = {}
    for key, finding in found.items():
        if key not in used:
            by_message.setdefault(finding.message, []).append(key)
    for message, keys in by_message.items():
        if len({code for code, _ in keys}) > 1:
            yield Cause("same-words", message, found[keys[0]].fix, tuple(keys))
