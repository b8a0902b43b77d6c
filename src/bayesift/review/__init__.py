"""The review page: a person and the model sort a collection of documents together."""
