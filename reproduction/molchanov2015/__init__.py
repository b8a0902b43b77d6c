"""Molchanov, Kondrashkin & Vetrov (2015), Relevance tagging machine."""
