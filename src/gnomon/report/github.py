"""A report as workflow commands, which GitHub Actions shows as annotations."""

from pathlib import Path

from gnomon.report.cause import Location
from gnomon.report.document import Report
from gnomon.report.reading import Group, groups_worst_first, pairs, summary_line, verdict

_LEVELS = {"error": "error", "warning": "warning", "note": "notice"}


def render_github(report: Report) -> str:
    """One command a line: faults worst first, those of one cause together, crashes, and a notice with the verdict.

    An annotation stands at its line of the user's code or config where that is known, for files below the current
    folder. Every line is a command and every text in it is escaped, so that no name in a checkpoint starts a command.

    >>> render_github(Report("model")).split(" of ")[0]
    '::notice title=gnomon::model: Nothing was checked: None'
    """
    lines = [_annotation(group) for group in groups_worst_first(report)]
    lines += [_command("error", f"{c.code} {c.name}", f"The check crashed.\n{c.detail}") for c in report.crashed]
    said = verdict(report)
    last = f"{report.target}: {said.word}: {said.sentence} {summary_line(report)}"
    return "\n".join([*lines, _command("notice", "gnomon", last)])


def _annotation(group: Group) -> str:
    """Known findings are notices, whatever they are."""
    known = all(item.finding.known for item in group.members)
    level = "notice" if known else _LEVELS[group.severity]
    located = group.location
    if group.cause is not None:
        codes = ", ".join(dict.fromkeys(item.check.code for item in group.members))
        seen = "\n".join(f"{m.check.code} {m.finding.where}: {m.finding.message}" for m in group.members)
        message = f"{group.cause.headline}\n{seen}\nFix: {group.cause.fix}"
        return _command(level, f"{codes} {group.cause.name}", message, located)
    check, finding = group.members[0].check, group.members[0].finding
    place = f"{finding.where}: " if finding.where else ""
    fix = f"\nFix: {finding.fix}" if finding.fix else ""
    numbers = f"\nMeasured: {pairs(finding.measured)}" if finding.measured else ""
    return _command(level, f"{check.code} {check.name}", place + finding.message + numbers + fix, located)


def _command(level: str, title: str, message: str, location: Location | None = None) -> str:
    return f"::{level} {_place(location)}title={_property(title)}::{_data(message)}"


def _place(location: Location | None) -> str:
    """GitHub shows an annotation in the code when its file is named from the root of the repository."""
    if location is None:
        return ""
    path, here = Path(location.file).absolute(), Path.cwd()
    return f"file={_property(str(path.relative_to(here)))},line={location.line}," if path.is_relative_to(here) else ""


def _data(text: str) -> str:
    """The escapes of the runner for the text after the second ::; bytes that are no UTF-8 are spelled out."""
    whole = text.encode(errors="backslashreplace").decode()
    return whole.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    """The escapes of the runner for a value before it: a colon or a comma would end it."""
    return _data(text).replace(":", "%3A").replace(",", "%2C")
