"""A report as workflow commands, which GitHub Actions shows as annotations."""

from gnomon.report.document import Report
from gnomon.report.reading import findings_worst_first, pairs, summary_line, verdict

_LEVELS = {"error": "error", "warning": "warning", "note": "notice"}


def render_github(report: Report) -> str:
    """One command a line: findings worst first, crashes, and a notice with the verdict.

    Every line is a command and every text in it is escaped, so that no name in a checkpoint can start a command.

    >>> render_github(Report("model")).split(" of ")[0]
    '::notice title=gnomon::model: Nothing was checked: None'
    """
    lines = []
    for item in findings_worst_first(report):
        finding = item.finding
        place = f"{finding.where}: " if finding.where else ""
        fix = f"\nFix: {finding.fix}" if finding.fix else ""
        numbers = f"\nMeasured: {pairs(finding.measured)}" if finding.measured else ""
        message = place + finding.message + numbers + fix
        lines.append(_command(_LEVELS[item.severity], f"{item.check.code} {item.check.name}", message))
    lines += [_command("error", f"{c.code} {c.name}", f"The check crashed.\n{c.detail}") for c in report.crashed]
    said = verdict(report)
    last = f"{report.target}: {said.word}: {said.sentence} {summary_line(report)}"
    return "\n".join([*lines, _command("notice", "gnomon", last)])


def _command(level: str, title: str, message: str) -> str:
    return f"::{level} title={_property(title)}::{_data(message)}"


def _data(text: str) -> str:
    """The escapes of the runner for the text after the second ::; bytes that are no UTF-8 are spelled out."""
    whole = text.encode(errors="backslashreplace").decode()
    return whole.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    """The escapes of the runner for a value before it: a colon or a comma would end it."""
    return _data(text).replace(":", "%3A").replace(",", "%2C")
