"""Statistics of comparisons, pure: pairs of runs in, shifts with intervals and verdicts out.

What scipy and statsmodels have is theirs; here is what they lack, and how the results are read.
"""
