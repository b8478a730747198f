"""The merge of shards, weight by weight."""

import numpy as np


def merged(mean, variance, average, rounds, shards):
    """Return mean, variance and average of the merge, and all rounds.

    Each shard is (mean, variance, average, rounds) after its pass, the average being
    that of this pass alone. Dense arrays; variance may be None.
    """
    mean, average = mean.astype(float), average.astype(float)
    variance = None if variance is None else variance.astype(float)
    new_mean, new_average = mean.copy(), average.copy()
    new_variance = None if variance is None else variance.copy()
    new_rounds = sum(shard[3] for shard in shards)
    for i in range(len(mean)):
        moved = [
            shard
            for shard in shards
            if shard[0][i] != mean[i]
            or (variance is not None and shard[1][i] != variance[i])
            or shard[2][i] != shard[0][i]
        ]
        of_pass = mean[i]
        if moved:
            gains = [1.0] * len(moved)
            if variance is not None:
                gains = [1.0 / s[1][i] - 1.0 / variance[i] for s in moved]
                gain = np.mean(gains) * np.sqrt(len(moved))
                new_variance[i] = 1.0 / (1.0 / variance[i] + gain)
            new_mean[i] = np.average([s[0][i] for s in moved], weights=gains)
            of_pass = np.average([s[2][i] for s in moved], weights=gains)
        # What stands still is averaged as well. A shard that has not moved is no voice.
        total = rounds * average[i] + new_rounds * of_pass
        new_average[i] = total / (rounds + new_rounds)
    return new_mean, new_variance, new_average, rounds + new_rounds
