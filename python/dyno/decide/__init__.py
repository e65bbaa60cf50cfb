"""Stage: judgement. The verdict on a run, its criteria and its bottlenecks."""
