"""One module per collection, or per kind of file; the registry names their functions ``build``."""
