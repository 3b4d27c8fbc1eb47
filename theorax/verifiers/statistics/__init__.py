"""From draws to a decision: classes of corrections, estimators, intervals, plans."""
