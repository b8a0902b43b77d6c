"""Murphy (2012), Machine learning: a probabilistic perspective, chapter 3."""
