"""Forged model files, by the thousands: what loading and using them does.

    python -m tools.fuzz --forgeries 100000 --seed 1

Takes small models of every type that a model file may hold, changes arrays, numbers, types and references in them,
seals each with right checksums, loads it and calls every public method of what was loaded. Kernels are compiled with
checks of their bounds. A seed and a number always give the same forgery; ``--only NUMBER`` repeats one and shows what
it does.
"""
