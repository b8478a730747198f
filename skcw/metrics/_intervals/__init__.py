"""What intervals, bands and comparisons of scores are made of."""
