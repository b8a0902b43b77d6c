"""Beyond the papers: all our models and their peers on every collection that is here, from texts to decisions."""
