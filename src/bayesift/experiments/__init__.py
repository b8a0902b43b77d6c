"""Published experiments done again: each gives a table with the published numbers beside ours."""
