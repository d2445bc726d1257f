"""ALiBi against plain causal attention at long inputs, without the other ways of `gnomon bench score-bias`.

`python -m benchmarks.long_biases` takes a minute on one core; the two ways take turns, one thread.
"""

import statistics
import sys
import time
from collections.abc import Callable

import torch

from gnomon.bench.attending import Attending
from gnomon.bench.benches.score_bias import OURS, PLAIN, call

HEADS, WIDTH, ROUNDS = 16, 64, 5
LENGTHS = (2048, 4096, 8192)


def seconds(run: Callable[[], object]) -> float:
    started = time.perf_counter()
    run()
    return time.perf_counter() - started


@torch.no_grad()
def main() -> None:
    torch.set_num_threads(1)
    sys.stdout.write(
        f"{time.strftime('%Y-%m-%d')}, torch {torch.__version__}, {torch.backends.cpu.get_cpu_capability()}\n"
    )
    for length in LENGTHS:
        for dtype in (torch.float32, torch.bfloat16):
            sizes = Attending(HEADS, length, WIDTH, dtype, causal=True)
            plain, ours = call(PLAIN, sizes), call(OURS, sizes)
            pairs = [(seconds(plain), seconds(ours)) for _ in range(ROUNDS + 1)][1:]  # the first warms up
            theirs, own = zip(*pairs, strict=True)
            median, least = statistics.median(own) / statistics.median(theirs), min(own) / min(theirs)
            sys.stdout.write(f"H{HEADS} L{length} D{WIDTH} {dtype}: {median:.3f} by medians, {least:.3f} by minima\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
