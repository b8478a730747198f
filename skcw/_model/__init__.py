"""The Gaussian over the weights, its decoding, and the one trainer of all learners."""
