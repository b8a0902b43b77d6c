"""Speed and memory beside the peers, as ratios in one run: ``python -m benchmarks [NAME ...]``."""
