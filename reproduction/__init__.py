"""Published experiments done again: each gives a table with the published numbers beside ours.

``python -m reproduction --list`` lists them, ``python -m reproduction genkin2007/table1`` runs one. Each paper has a
folder of its own; :mod:`reproduction.catalogue` runs, judges and reports.
"""
