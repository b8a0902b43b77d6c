"""From checked input to fitted coefficients: the problem of one fit, all categories of a call, the prior variance."""
