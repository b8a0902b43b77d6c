"""Files of other programs: what they say, read and written without loss."""
