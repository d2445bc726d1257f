"""`gnomon lab repeat`: one run of a study, done anew."""

from typing import TYPE_CHECKING, Annotated

import typer

from gnomon.cli.lab import Device, Format
from gnomon.cli.output import stdout_for_the_result

if TYPE_CHECKING:
    from gnomon.lab.suites import Size
    from gnomon.report.lab.results import Result


def repeat(
    suite: Annotated[str, typer.Argument(help="The suite that the run is of.")],
    key: Annotated[str, typer.Argument(help="The run's key, as the report of the suite has it.")],
    seed: Annotated[int, typer.Option(min=0, help="The run's seed.")] = 0,
    quick: Annotated[bool, typer.Option("--quick", help="The run is one of the suite's quick form.")] = False,
    threads: Annotated[int, typer.Option(min=1, help="Threads to compute with; a suite's workers have one each.")] = 1,
    device: Device = "cpu",
    format: Format = "text",
) -> None:
    """Do one run of a suite again, whatever is stored of it, and print what it measured. Nothing is written."""
    import torch

    from gnomon.lab.experiments import Context
    from gnomon.lab.repeating import run_of
    from gnomon.lab.store import shown_as
    from gnomon.lab.suites import registry
    from gnomon.lab.worker import perform

    size: Size = "quick" if quick else "full"
    run = run_of(registry.get(suite)(), size, seed, key)
    with stdout_for_the_result():
        torch.set_num_threads(threads)
        result = shown_as(perform(run, Context(seed, device=None if device == "auto" else device)), run)
    typer.echo(_json(result) if format == "json" else _text(result))


def _json(result: "Result") -> str:
    import json

    return json.dumps(result.to_dict(), indent=1, ensure_ascii=False, allow_nan=False)


def _text(result: "Result") -> str:
    from gnomon.lab.studies import infos
    from gnomon.report.lab.columns import table_lines
    from gnomon.report.lab.study import Study
    from gnomon.report.lab.tables import tables
    from gnomon.report.lab.words import duration

    study = Study("", "", "", "", "", "", measures=infos([result]), results=(result,))
    blocks = ["\n".join([table.title, *table_lines(table, 80)]) for table in tables(study)]
    return "\n\n".join([*blocks, f"seed {result.run.seed}, {duration(result.seconds)}"])
