"""Writes docs/checks: a page for each check, from its docstring and from the gallery's failing and passing examples."""

import inspect
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

from gnomon.doctor.check import GROUPS, Check, registry
from tests.gallery.item import Fault, LookAlike, items

FOLDER = Path("docs/checks")
SECTIONS = ("Why", "Fix", "Sources")
MADE = "<!-- Written by `make pages` from the code; change the check or the gallery instead. -->"


def pages() -> dict[str, str]:
    """The text of every page by its file name."""
    faults: dict[str, list[tuple[str, Fault]]] = defaultdict(list)
    passed: dict[str, list[tuple[str, LookAlike]]] = defaultdict(list)
    for name, item in items():
        if isinstance(item, Fault):
            faults[item.check].append((name, item))
        else:
            for code in item.passes:
                passed[code].append((name, item))
    checks = [check for _, check in registry]
    written = {f"{c.code}.md": "\n".join(_page(c, faults[c.code], passed[c.code])) + "\n" for c in checks}
    return {**written, "README.md": "\n".join(_index(checks, faults)) + "\n"}


def _page(check: Check, faults: list[tuple[str, Fault]], passed: list[tuple[str, LookAlike]]) -> Iterator[str]:
    yield from (f"# {check.code} {check.name}", "", MADE, "", check.title, "")
    cost = " It takes many seconds and runs when its code is selected, or with `--thorough`." if check.heavy else ""
    yield from (f"Severity: {check.severity}. Needs: {check.needed}.{cost}", "")
    for heading in SECTIONS:
        text = check.section(heading)
        yield from (f"## {heading}", "", text[:1].upper() + text[1:], "")
    if faults:
        name, shown = min(faults, key=lambda fault: len(inspect.getsource(fault[1].build)))
        yield from _example("A failing example", name, shown.build)
        yield from _example("The same without the fault", name, shown.healthy)
        yield from ("## Public reports that it finds", "")
        yield from (_report(name, item) for name, item in faults)
        yield ""
    if passed:
        yield from ("## Reports that were no faults, which it passes", "")
        yield from (_report(name, item) for name, item in passed)
        yield ""


def _example(heading: str, name: str, build: object) -> Iterator[str]:
    source = inspect.getsource(build)  # type: ignore[arg-type]
    yield from (
        f"## {heading}",
        "",
        f"From `tests/gallery/{name}.py`:",
        "",
        "```python",
        source.rstrip("\n"),
        "```",
        "",
    )


def _report(name: str, item: Fault | LookAlike) -> str:
    module = inspect.getmodule(item.build)
    told = " ".join((inspect.getdoc(module) or "").split("\n\n")[0].split())
    return f"- [{item.source}](../../tests/gallery/{name}.py): {told}"


def _index(checks: Iterable[Check], faults: dict[str, list[tuple[str, Fault]]]) -> Iterator[str]:
    yield from ("# Checks", "", MADE, "", "`gnomon list checks` prints this list, `gnomon explain CODE` a page.", "")
    for group, evidence in GROUPS.items():
        own = [check for check in checks if check.code.startswith(group)]
        if own:
            yield from (f"## {group}xx: {evidence}", "")
            yield from ("| code | name | severity | what | reports |", "|---|---|---|---|---|")
            for c in own:
                count = len(faults[c.code])
                yield f"| [{c.code}]({c.code}.md) | {c.name} | {c.severity} | {c.title} | {count} |"
            yield ""


def main() -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    written = pages()
    for file in FOLDER.glob("*.md"):
        if file.name not in written:
            file.unlink()
    for name, text in written.items():
        (FOLDER / name).write_text(text, encoding="utf-8")
    print(f"docs/checks: {len(written)} pages")


if __name__ == "__main__":
    main()
