"""A worker process that needs no torch: what it does with a run is the run's variant. See gnomon.lab.engines.child."""

import json
import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

from gnomon.report.lab.results import Result, Run, Series


def main() -> None:
    for line in sys.stdin:
        fields = json.loads(line)
        run = Run.from_dict(fields["run"])
        folder = Path(fields["folder"])
        folder.mkdir(parents=True, exist_ok=True)
        tries = len(list(folder.iterdir()))
        (folder / str(tries)).write_text("")
        write(done=1, steps=2)
        if run.variant == "killed" or (run.variant == "killed once" and tries == 0):
            os.kill(os.getpid(), signal.SIGKILL)
        elif run.variant == "cut":
            sys.stdout.write('{"result": {"ru')
            sys.stdout.flush()
            os.kill(os.getpid(), signal.SIGKILL)
        elif run.variant == "exits":
            sys.stderr.write("the last\nwords\n\n")
            sys.exit(3)
        elif run.variant == "sleeps":
            time.sleep(60)
        elif run.variant == "refused":
            write(failed="It is refused.")
        else:
            environment = {
                "pid": str(os.getpid()),
                "threads": os.environ["OMP_NUM_THREADS"],
                "words": str(sys.argv[1:]),
            }
            measured = {"": {"tries": Series.number(tries + 1)}}
            write(result=Result(run, measured, seconds=0.1, environment=environment).to_dict())


def write(**fields: Any) -> None:
    sys.stdout.write(json.dumps(fields) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
