"""Break the package line by line, and list what no test noticed: ``python -m tools.mutants``."""
