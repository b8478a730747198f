"""Training in shards: their files, the workers that open them, and the merge."""
