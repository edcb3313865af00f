"""From rows of logs to verdicts: features, system state, verdicts, and sums of nights."""
