"""From texts and labels to a classifier, its report and its answers: what the command line is a shell of."""
