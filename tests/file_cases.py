"""A disk that takes no more, for tests of what is written to files."""

from __future__ import annotations

import signal
from contextlib import contextmanager


@contextmanager
def file_size_limit(size):
    """Let no file of this process grow beyond so many bytes: the error of a full disk, but for its number."""
    import resource

    before, handler = resource.getrlimit(resource.RLIMIT_FSIZE), signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)
