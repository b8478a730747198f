"""Whole labelings drawn from the belief over weights."""

import numpy as np
from sklearn.utils.validation import check_is_fitted

from skcw.confidence import Labelings, count_draws
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
        """
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
        labels = np.array(self.classes_.tolist(), dtype=object)[drawn.codes]
        begins, ends = batch.offsets[:-1].tolist(), batch.offsets[1:].tolist()
        return object_rows(
            labels[:, a:b].tolist() for a, b in zip(begins, ends, strict=True)
        )
