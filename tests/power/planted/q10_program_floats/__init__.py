"""Q10: statements that hold in exact arithmetic and fail in the floats of a program."""
