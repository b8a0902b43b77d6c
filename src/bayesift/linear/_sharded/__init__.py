"""Fits to shards: stateless tasks on a shard, rounds over all of them, and the solvers that ask for rounds."""
