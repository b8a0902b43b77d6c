"""Filtering a stream of documents, with judgements of what was retrieved."""
