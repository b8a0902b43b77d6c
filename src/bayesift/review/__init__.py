"""The review page: a person and the model sort a pile of documents together."""
