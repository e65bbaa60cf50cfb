"""Statistics of comparisons. Pure: takes pairs of runs, returns shifts with intervals and verdicts.

Uses scipy and statsmodels where they have the method; this package adds the rest and interprets the
results.
"""
