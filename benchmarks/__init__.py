"""Speed and memory as ratios to a peer or a floor in the same run."""
