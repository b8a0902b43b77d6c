"""Data larger than memory: rows of a term matrix in files, processed by threads, processes or a cluster."""

from bayesift.shards._engines import EngineError, Numbered, engine, run_tasks
from bayesift.shards._layout import Rows, ShardError, ShardFile
from bayesift.shards._texts import write
from bayesift.shards._writing import ShardWriter, write_matrix
from bayesift.shards.shards import Reading, Shards, bytes_of, open

__all__ = [
    "EngineError",
    "Numbered",
    "Reading",
    "Rows",
    "ShardError",
    "ShardFile",
    "ShardWriter",
    "Shards",
    "bytes_of",
    "engine",
    "open",
    "run_tasks",
    "write",
    "write_matrix",
]
