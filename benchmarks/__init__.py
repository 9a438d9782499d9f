"""The benchmark suite: dmlcore beside its peers and beside the machine's own limits. `python -m benchmarks --help`."""
