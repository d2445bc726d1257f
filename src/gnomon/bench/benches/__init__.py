"""The benchmarks, one a file."""
