"""A report in which every string tries to become a part of the page."""

from gnomon.plots import Lines
from gnomon.report.document import CheckResult, Finding, FoundEncoding, Measured, Report

HOSTILE = '</script><script>alert("1")</script><img src=x onerror=alert(2)>&amp;\'"'


def report_of(word: str) -> Report:
    """A report that says `word` wherever a report can say anything."""
    finding = Finding(word, word, word, {word: word})
    measured = (Measured(word, word, word, word),)
    failed = CheckResult("PE101", word, "error", "failed", word, 0.0, word, measured, (finding,))
    crashed = CheckResult("PE102", word, "error", "crashed", word, 0.0, word)
    encoding = FoundEncoding(word, word, {word: word, "nested": {word: word}}, "config")
    return Report(word, (encoding,), (failed, crashed), (Lines(word, (), word, word, note=word),), word)
