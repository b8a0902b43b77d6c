"""One module per collection; each gives an ``ENTRY`` for the registry."""
