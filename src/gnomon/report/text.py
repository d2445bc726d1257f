"""A report as text for a terminal or a log."""

from collections.abc import Iterator
from dataclasses import dataclass

from gnomon.report.cause import Location
from gnomon.report.document import CheckResult, FoundEncoding, Report
from gnomon.report.reading import (
    Group,
    Reported,
    against,
    checks_in_order,
    groups_worst_first,
    pairs,
    summary_line,
    verdict,
)
from gnomon.report.wrapping import printable, wrap

_CODES = {"bad": "1;31", "caution": "1;33", "good": "1;32", "neutral": "1", "faint": "2", "heading": "1"}
_TONES = {"error": "bad", "warning": "caution", "note": "neutral"}


def render_text(report: Report, *, color: bool = False, width: int = 80) -> str:
    """The report for a reader: verdict, encodings, findings worst first, then what passed and what did not apply.

    No line is wider than `width` columns, whatever the terminal; colours (ANSI) only when asked for.

    >>> print(render_text(Report("model")))
    gnomon: model
    Nothing was checked: None of 0 checks applied; see what each of them lacked.
    <BLANKLINE>
    0 failed, 0 crashed, 0 passed, 0 not applicable
    """
    page = _Page(color, width)
    by_status = {status: [c for c in checks_in_order(report) if c.status == status] for status in report.summary}
    blocks = [
        list(page.head(report)),
        page.section("Encodings", [line for e in report.encodings for line in page.encoding(e)]),
        page.section("Findings", [line for g in groups_worst_first(report) for line in page.group(g)]),
        page.section("Crashed", [line for c in by_status["crashed"] for line in page.crash(c)]),
        page.section("Passed", [line for c in by_status["passed"] for line in page.passed(c)]),
        page.section("Not applicable", page.not_applicable(by_status["not-applicable"])),
        wrap(summary_line(report), width),
    ]
    return "\n\n".join("\n".join(block).rstrip("\n") for block in blocks if block)


@dataclass(frozen=True)
class _Page:
    """Lines of one width, painted or not. Text is wrapped first and painted after, so that colours take no columns."""

    color: bool
    width: int

    def head(self, report: Report) -> Iterator[str]:
        yield from wrap(f"{'gnomon ' + report.gnomon if report.gnomon else 'gnomon'}: {report.target}", self.width)
        said = verdict(report)
        first, *rest = wrap(f"{said.word}: {said.sentence}", self.width)
        word = f"{said.word}:"
        yield self._paint(word, said.tone) + first.removeprefix(word)
        yield from rest
        for note in report.notes:
            yield from wrap(f"Note: {note}", self.width)

    def section(self, heading: str, lines: list[str]) -> list[str]:
        return [self._paint(heading, "heading"), *lines] if lines else []

    def encoding(self, found: FoundEncoding) -> Iterator[str]:
        yield from wrap(f"{found.kind} at {found.where} (from {found.source})", self.width, first="  ", rest="      ")
        if found.options:
            yield from wrap(pairs(found.options), self.width, first="      ", rest="      ")

    def group(self, group: Group) -> Iterator[str]:
        if group.cause is None:
            yield from self.finding(group.members[0])
            return
        line = f"{group.severity}: {group.cause.headline}"
        yield from self._painted(wrap(line, self.width, first="  ", rest="      "), _TONES[group.severity])
        yield from self._field("in", _line(group.location))
        yield from self._field("fix", group.cause.fix)
        for label, item in zip(("seen as", *[" "] * len(group.members)), group.members, strict=False):
            place = f" {item.finding.where}" if item.finding.where else ""
            yield from self._field(label, f"{item.check.code} {item.check.name},{place}: {item.finding.message}")
        yield ""

    def finding(self, item: Reported) -> Iterator[str]:
        check, finding = item.check, item.finding
        line = f"{item.severity} {check.code} {check.name}{' (known)' if finding.known else ''}"
        yield from self._painted(wrap(line, self.width, first="  ", rest="      "), _TONES[item.severity])
        yield from self._field("where", finding.where)
        yield from self._field("in", _line(finding.location))
        yield from self._field("found", finding.message)
        numbers = pairs(finding.measured) or ", ".join(against(measured) for measured in check.measured)
        yield from self._field("measured", numbers)
        yield from self._field("fix", finding.fix)
        yield ""

    def crash(self, check: CheckResult) -> Iterator[str]:
        last = check.detail.strip().splitlines()[-1:] or ["no trace"]
        yield from self.row(check, f"{last[0]} (the trace is in the json and html forms)")

    def passed(self, check: CheckResult) -> Iterator[str]:
        held = [m for m in check.measured if m.threshold is not None] or list(check.measured)
        yield from self.row(check, against(held[0]) if held else "")

    def not_applicable(self, checks: list[CheckResult]) -> list[str]:
        """One line for each reason: many checks lack the same evidence."""
        reasons: dict[str, list[CheckResult]] = {}
        for check in checks:
            reasons.setdefault(check.detail, []).append(check)
        lines: list[str] = []
        for reason, lacking in reasons.items():
            codes = ", ".join(check.code for check in lacking)
            text = f"{codes}: {reason}" if len(lacking) > 1 else ""
            lines += wrap(text, self.width, first="  ", rest=" " * 8) if text else self.row(lacking[0], reason)
        return lines

    def row(self, check: CheckResult, text: str) -> Iterator[str]:
        label = f"  {printable(check.code)} "
        name = f"{check.name}: {text}" if text else check.name
        yield from wrap(name, self.width, first=label, rest=" " * 8)

    def _field(self, label: str, text: str) -> Iterator[str]:
        if text:
            first, *rest = wrap(text, self.width, first=f"    {label:<10}", rest=" " * 14)
            yield self._paint(first[:14], "faint") + first[14:]
            yield from rest

    def _painted(self, lines: list[str], tone: str) -> Iterator[str]:
        return (self._paint(line, tone) for line in lines)

    def _paint(self, text: str, tone: str) -> str:
        return f"\x1b[{_CODES[tone]}m{text}\x1b[0m" if self.color and text.strip() else text


def _line(location: Location | None) -> str:
    return "" if location is None else str(location)
