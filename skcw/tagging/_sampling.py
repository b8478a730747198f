"""Whole labelings drawn from the belief over weights, or from the model itself."""

import numpy as np
from sklearn.utils.validation import check_is_fitted

from skcw.confidence import Labelings, count_draws
from skcw.confidence._chain_draws import draw_chains
from skcw.data.ragged import object_rows


class LabelingSampler:
    """Labelings of a tagger that has a belief and settings of confidence."""

    def sample_labelings(self, X, n, fixed=None, **options):
        """Return labelings under weights drawn from the belief.

        Each is the best labeling under one weight vector, so that its labels fit
        together. Any question about a labeling can be asked of the sample: the share
        that says yes is how sure the tagger is. Asked for the predicted label of a word
        it is the confidence of ``method="kd-pc"`` or ``"kd-fixed"``.

        Parameters
        ----------
        X : iterable of sequences
            The sequences.
        n : int
            How many labelings of every sequence.
        fixed : bool, default=None
            Whether all weights are drawn with one variance; by default where the tagger
            keeps none.
        **options : float or int
            ``scale`` and ``random_state`` as in ``predict_confidence``.

        Returns
        -------
        labelings : ndarray of shape (n_sequences,), dtype object
            A list of n labelings per sequence, each a list of labels. Labelings of the
            same number come from the same weights, whatever the sequence.

        Examples
        --------
        >>> from skcw import CWSequenceTagger
        >>> X = [["Ann", "met", "Bob"], ["Bob", "left"]]
        >>> y = [["PER", "O", "PER"], ["PER", "O"]]
        >>> tagger = CWSequenceTagger(random_state=0).fit(X, y)
        >>> (labelings,) = tagger.sample_labelings([["Ann", "left", "Eve"]], 20)
        >>> len(labelings), labelings[0][:2]
        (20, ['PER', 'O'])
        >>> 0 < sum(labels[2] == "PER" for labels in labelings) < 20
        True
        """
        _check_options(options, ("scale", "random_state"), "draws of weights")
        check_is_fitted(self, "belief_")
        fixed = self.belief_.variance is None if fixed is None else fixed
        name, chosen = self._chosen_method("kd-fixed" if fixed else "kd-pc")
        settings = self._settings(name, chosen, n_draws=n, **options)
        batch = self.encode(X)
        drawn = Labelings(settings.n_draws, batch.n_tokens)
        count_draws(
            self._decoder(batch),
            batch,
            settings.n_draws,
            settings.scale,
            [drawn],
            seed=settings.seed,
            fixed=fixed,
        )
        return self._as_labelings(drawn.codes, batch)

    def _as_labelings(self, codes, batch):
        """Return codes of shape (n, n_tokens) as n lists of labels per sequence."""
        labels = np.array(self.classes_.tolist(), dtype=object)[codes]
        begins, ends = batch.offsets[:-1].tolist(), batch.offsets[1:].tolist()
        return object_rows(
            labels[:, a:b].tolist() for a, b in zip(begins, ends, strict=True)
        )


class PosteriorSampler(LabelingSampler):
    """Labelings of a tagger whose model is a probability of labelings itself."""

    def sample_labelings(self, X, n, fixed=None, **options):
        """Return labelings, each drawn with its probability given the words.

        Any question about a labeling can be asked of the sample: the share that says
        yes is how sure the tagger is. Asked for the label of a word it tends to
        ``method="marginal"``.

        Parameters
        ----------
        X : iterable of sequences
            The sequences.
        n : int
            How many labelings of every sequence.
        fixed : bool, default=None
            None for the above. True draws weights with one variance instead, and gives
            the best labeling of each, as taggers do whose model is no probability.
        **options : float or int
            ``temperature`` and ``random_state`` as in ``predict_confidence``; with
            `fixed`, ``scale`` and ``random_state``.

        Returns
        -------
        labelings : ndarray of shape (n_sequences,), dtype object
            A list of n labelings per sequence, each a list of labels.

        Examples
        --------
        >>> from skcw import HMMSequenceTagger
        >>> X = [["the", "dog", "barks"], ["a", "cat", "sleeps"], ["the", "barks"]]
        >>> y = [["D", "N", "V"], ["D", "N", "V"], ["D", "N"]]
        >>> tagger = HMMSequenceTagger().fit(X, y)
        >>> (labelings,) = tagger.sample_labelings([["a", "dog", "barks"]], 1000)
        >>> share = sum(labels[2] == "V" for labels in labelings) / 1000
        >>> marginal = tagger.predict_marginals([["a", "dog", "barks"]])[0][2]["V"]
        >>> bool(abs(share - marginal) < 0.06)
        True
        """
        if fixed is not None:
            return super().sample_labelings(X, n, fixed, **options)
        what = "draws from the distribution of labelings"
        _check_options(options, ("temperature", "random_state"), what)
        name, chosen = self._chosen_method("marginal")
        settings = self._settings(name, chosen, n_draws=n, **options)
        batch = self.encode(X)
        codes = draw_chains(
            self._decoder(batch),
            batch,
            settings.n_draws,
            settings.temperature,
            settings.seed,
        )
        return self._as_labelings(codes, batch)


def _check_options(options, known, what):
    """Raise at an option that would change nothing."""
    if unknown := set(options) - set(known):
        raise TypeError(
            f"there is no option {min(unknown)!r} of {what}; there are "
            f"{' and '.join(known)}"
        )
