"""The contract of all taggers, and of those that wrap another one."""

from collections.abc import Iterable
from numbers import Integral
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from skcw._util.compat import Interval
from skcw.confidence.predictions import Predictions
from skcw.data.batch import SequenceBatch
from skcw.data.columns import TokenColumns
from skcw.data.packing import compacted
from skcw.io.loading import SavedModelMixin
from skcw.io.model_files import model_size, write_model
from skcw.metrics import token_accuracy_score


def only_sequence(x):
    """Return one sequence in a form that ``predict`` takes."""
    if not isinstance(x, SequenceBatch | TokenColumns):
        return [x]
    if len(x) != 1:
        raise ValueError(f"{x!r} is not one sequence")
    return x


# What taggers take for ``n_jobs``.
N_JOBS = [
    Interval(Integral, None, -1, closed="right"),
    Interval(Integral, 1, None, closed="left"),
    None,
]


class BaseSequenceTagger(SavedModelMixin, BaseEstimator):
    """Base class of all sequence taggers: prediction, confidence, saving to files.

    A subclass implements ``predict_all``; all other methods use it, so that signatures
    and results are the same for all taggers. ``confidence_methods_`` lists the
    confidence methods that a tagger supports. To be saved, a subclass implements
    ``_saved_state`` and ``_restore``.

    Prediction is thread-safe, also while another thread fits the tagger: fitted state
    changes in one step, so each prediction is that of the old model or of the new one,
    and a ``fit`` that fails leaves the old one. Two threads must not fit the same
    tagger at once, nor set its parameters meanwhile: the last to end wins. The same
    holds for classifiers, pipelines and rerankers.

    It is not a ``ClassifierMixin``: scikit-learn would take ragged label sequences for
    multi-label targets, and integer ``cv`` would fail.

    Examples
    --------
    >>> from skcw._util.ragged import object_rows
    >>> from skcw.tagging import BaseSequenceTagger
    >>> class Outside(BaseSequenceTagger):
    ...     def predict(self, X):
    ...         return object_rows(["O"] * len(x) for x in X)
    >>> Outside().score([["Ann", "left"]], [["PER", "O"]])
    0.5
    """

    # The constraints of parameters; without any, none is checked.
    _parameter_constraints: dict = {}

    def predict_all(self, X: Iterable[Any]) -> Predictions:
        """Return all predictions for X: labels, confidence, entities and so on.

        Sequences are encoded and scored once, and nothing is computed before it is
        needed, or twice. Use it instead of several ``predict`` methods.

        Parameters
        ----------
        X : iterable of sequences
            The sequences.

        Returns
        -------
        answers : Predictions
            With ``labels()``, ``confidence()``, ``entities()``, ``nbest(n)``,
            ``marginals()``, ``label_confidence(y)``, ``label_table()`` and
            ``sequence_confidence()``, whose options are those of the methods here.
        """
        raise NotImplementedError(
            f"{type(self).__name__} does not implement predict_all"
        )

    def predict(self, X: Iterable[Any]) -> np.ndarray:
        """Return the best labeling of every sequence.

        Parameters
        ----------
        X : iterable of sequences
            The sequences.

        Returns
        -------
        labels : ndarray of shape (n_sequences,), dtype object
            One list of labels per sequence.
        """
        return self.predict_all(X).labels()

    def predict_single(self, x: Iterable[Any]) -> list[str]:
        """Return the labels of one sequence.

        Parameters
        ----------
        x : sequence of tokens
            One sequence, or a ``SequenceBatch`` or ``TokenColumns`` of one.

        Returns
        -------
        labels : list of str
            One label per token.
        """
        return self.predict(only_sequence(x))[0]

    def predict_nbest(self, X: Iterable[Any], n: int) -> np.ndarray:
        """Return the n best distinct labelings of every sequence.

        Parameters
        ----------
        X : iterable of sequences
            The sequences.
        n : int
            How many labelings; fewer are returned where fewer exist.

        Returns
        -------
        labelings : ndarray of shape (n_sequences,), dtype object
            One list of ``(labels, score)`` per sequence, best first. If the model gives
            probabilities of labelings, the score is the log-probability.
        """
        return self.predict_all(X).nbest(n)

    def predict_marginals(self, X: Iterable[Any], length: int = 1) -> np.ndarray:
        """Return the marginal of every label, in the form of sklearn-crfsuite.

        The scores of a margin-trained tagger are divided by ``temperature_`` first, for
        they have no probabilistic scale.

        Parameters
        ----------
        X : iterable of sequences
            The sequences.
        length : {1, 2}, default=1
            Whether marginals are of single labels, or of pairs of neighbors.

        Returns
        -------
        marginals : ndarray of shape (n_sequences,), dtype object
            One list per sequence, with one dict per token: label -> marginal. With
            ``length=2`` one dict for each two neighbors: (label, next label) ->
            marginal.

        Examples
        --------
        >>> from skcw import HMMSequenceTagger
        >>> X, y = [["Ann", "met", "Bob"], ["Bob"]], [["P", "O", "P"], ["P"]]
        >>> tagger = HMMSequenceTagger().fit(X, y)
        >>> sorted(tagger.predict_marginals([["Ann", "met"]])[0][0])
        ['O', 'P']
        >>> (pairs,) = tagger.predict_marginals([["Ann", "met"]], length=2)[0]
        >>> max(pairs, key=pairs.get)
        ('P', 'O')
        """
        return self.predict_all(X).marginals(length)

    def predict_marginals_single(
        self, x: Iterable[Any], length: int = 1
    ) -> list[dict[str, Any]]:
        """Return the marginal of every label for one sequence.

        Parameters
        ----------
        x : sequence of tokens
            One sequence, or a ``SequenceBatch`` or ``TokenColumns`` of one.
        length : {1, 2}, default=1
            As in ``predict_marginals``.

        Returns
        -------
        marginals : list of dict
            One dict per token: label -> marginal; or one for each two neighbors.
        """
        return self.predict_marginals(only_sequence(x), length)[0]

    def predict_confidence(
        self, X: Iterable[Any], method: str | None = None, **options: Any
    ) -> np.ndarray:
        """Return the confidence in each predicted label.

        Parameters
        ----------
        X : iterable of sequences
            The sequences.
        method : str, default=None
            One of ``confidence_methods_``, from cheap to costly; by default
            ``"noisy-marginal"`` for the taggers that are trained by margins and
            ``"marginal"`` for the others.

            - ``"delta"``: what the best labeling loses in score if that one token gets
              its best other label. It ranks tokens but is not a probability. Infinite
              where constraints leave no other label between those of the neighbors,
              which makes wrong words as sure as can be.
            - ``"delta-std"``: the same in standard deviations of that difference;
              ``"delta-probit"``: the probability that it is positive. CW and AROW.
            - ``"delta-max"``: the loss when the rest of the labeling may adapt, a
              difference of max-marginals: finite wherever there are two labels, so
              the one to use with constraints.
            - ``"marginal"``: the forward-backward probability of the label;
              ``"noisy-marginal"``: the same as if noise were added to the scores of
              every token, on average. Words of long entities are then less sure.
            - ``"kbv"``, ``"wkbv"``: the share of the `n_best` best labelings that have
              the label, each counting one or by its score.
            - ``"kd-independent"``: the share of `n_draws` draws of the scores of single
              tokens that keep the label. CW and AROW.
            - ``"kd-fixed"``, ``"kd-pc"``: the share of weight vectors drawn around the
              mean that keep the label, with one variance for all weights, or with
              that of the belief (CW and AROW).
            - ``"draw-marginal"``: marginals averaged over draws with the variance of
              the belief (CW and AROW). ``"blend"``: the mean of ``"kd-pc"`` and
              ``"marginal"``.
            - ``"local"``, ``"nbest"``: see ``MaxEntSequenceTagger``.
        **options : float or int
            Those that the method depends on; others are refused.

            ``variance_scale``
                The factor of the variances of draws, in units of the model's own
                scale; for ``"noisy-marginal"`` the variance of the noise, in units of
                the squared temperature. By default what ``fit`` or ``fit_confidence``
                has chosen for the method, or 3.0 (4.0 for ``"kd-fixed"``, none for
                ``"noisy-marginal"``).
            ``temperature``
                What scores are divided by, in units of the margin that training asks
                for. By default what ``fit`` or ``fit_confidence`` has chosen, or 0.8
                (1.0 where the model is a probability).
            ``n_best``
                How many labelings vote; by default 30, or what was chosen.
            ``n_draws``
                How many weight vectors are drawn; by default 32 for averaged marginals
                and 100 for votes, which rank better with up to several hundred.
            ``random_state``
                The seed of the draws; by default the tagger's if that is an integer,
                or 0. The answer depends on it, the model and the sequence alone.

        Returns
        -------
        confidence : ndarray of shape (n_sequences,), dtype object
            One float array per sequence.
        """
        return self.predict_all(X).confidence(method, **options)

    def predict_label_confidence(
        self,
        X: Iterable[Any],
        y: Iterable[Any],
        method: str | None = None,
        **options: Any,
    ) -> np.ndarray:
        """Return the confidence in given labels, such as an annotator's.

        Use a tagger that was not fitted on these sequences: otherwise it is too
        confident in the labels that it was given.

        Parameters
        ----------
        X : iterable of sequences
            The sequences.
        y : iterable of sequences of str
            The labels.
        method : str, default=None
            A method of ``predict_confidence`` that gives probabilities, except
            ``"delta-probit"``.
        **options : float or int
            As in ``predict_confidence``.

        Returns
        -------
        confidence : ndarray of shape (n_sequences,), dtype object
            One float array per sequence; 0 for labels the tagger does not know.
        """
        return self.predict_all(X).label_confidence(y, method, **options)

    def predict_sequence_confidence(
        self, X: Iterable[Any], method: str | None = None, **options: Any
    ) -> np.ndarray:
        """Return the confidence that a whole labeling is right.

        Parameters
        ----------
        X : iterable of sequences
            The sequences.
        method : str, default=None
            ``"marginal"``, the default, is the probability of the labeling;
            ``"kbv"`` its share among the `n_best` best; ``"kd-independent"``,
            ``"kd-fixed"`` and ``"kd-pc"`` the share of drawn models that give the
            very same labeling.
        **options : float or int
            As in ``predict_confidence``.

        Returns
        -------
        confidence : ndarray of float64, shape (n_sequences,)
            One number per sequence; 1 for an empty one.
        """
        return self.predict_all(X).sequence_confidence(method, **options)

    def predict_entities(
        self,
        X: Iterable[Any],
        entity_confidence: str | None = None,
        method: str | None = None,
        **options: Any,
    ) -> np.ndarray:
        """Return the entities that the predicted labels mark.

        Parameters
        ----------
        X : iterable of sequences
            The sequences.
        entity_confidence : str, default=None
            The event that the confidence of an entity is the probability of; None is
            ``"least-word"``, or the one that a calibrated tagger was calibrated for.

            - ``"least-word"``: its least confident token. Cheap, with any method; to
              rank.
            - ``"all-words"``: all its tokens have their labels. To accept annotations.
            - ``"boundary"``: an entity of any type begins and ends there. To link or
              to mask.
            - ``"exact"``: it begins and ends there and has its type, whichever labels
              its tokens have. What span F1 counts; the one to calibrate.
        method : str, default=None
            Any of ``predict_confidence`` for ``"least-word"``; for the others
            ``"marginal"`` (the default, by forward-backward under constraints),
            ``"kbv"``, ``"kd-independent"``, ``"kd-fixed"`` or ``"kd-pc"``.
        **options : float or int
            As in ``predict_confidence``.

        Returns
        -------
        entities : ndarray of shape (n_sequences,), dtype object
            For each sequence a list of named tuples ``(label, start, end,
            confidence)``.
        """
        return self.predict_all(X).entities(entity_confidence, method, **options)

    def predict_voted(
        self, X: Iterable[Any], unit_variance: bool | None = None, **options: Any
    ) -> np.ndarray:
        """Return the label that most drawn models give each word.

        It draws as the methods ``"kd-fixed"`` and ``"kd-pc"`` do.

        Parameters
        ----------
        X : iterable of sequences
            The sequences.
        unit_variance : bool, default=None
            Whether all weights are drawn with one variance; by default where the tagger
            keeps none.
        **options : float or int
            ``variance_scale``, ``n_draws`` and ``random_state`` as in
            ``predict_confidence``.

        Returns
        -------
        labels : ndarray of shape (n_sequences,), dtype object
            One list of labels per sequence. Each word is voted on separately, so
            neighboring labels need not fit together.
        """
        return self.predict_all(X).voted(unit_variance, **options)

    def sample(
        self,
        X: Iterable[Any],
        n: int,
        unit_variance: bool | None = None,
        **options: Any,
    ) -> np.ndarray:
        """Return labelings drawn from what the tagger believes.

        Any yes/no question about a labeling can be asked of the sample: the share of
        yes is the tagger's confidence. Margin-trained taggers draw weights, and each
        labeling is the best one under a weight vector; asked for the predicted label of
        a word the share is the confidence of ``method="kd-pc"`` or ``"kd-fixed"``.
        Where the model is a probability of labelings (HMM, CRF), each is drawn with its
        probability given the words, and the share tends to ``method="marginal"``.

        Parameters
        ----------
        X : iterable of sequences
            The sequences.
        n : int
            How many labelings of every sequence.
        unit_variance : bool, default=None
            Whether all weights are drawn with one variance; by default where the tagger
            keeps none and its model is not a probability.
        **options : float or int
            ``variance_scale`` and ``random_state`` as in ``predict_confidence``;
            ``temperature`` and ``random_state`` of a model that is a probability.

        Returns
        -------
        labelings : ndarray of shape (n_sequences,), dtype object
            One list of n labelings per sequence, each a list of labels. Labelings at
            the same position of these lists come from the same weights.

        Examples
        --------
        >>> from skcw import CWSequenceTagger, HMMSequenceTagger
        >>> X = [["Ann", "met", "Bob"], ["Bob", "left"]]
        >>> y = [["PER", "O", "PER"], ["PER", "O"]]
        >>> tagger = CWSequenceTagger(random_state=0).fit(X, y)
        >>> (labelings,) = tagger.sample([["Ann", "left", "Eve"]], 20)
        >>> len(labelings), labelings[0][:2]
        (20, ['PER', 'O'])
        >>> 0 < sum(labels[2] == "PER" for labels in labelings) < 20
        True
        >>> tagger = HMMSequenceTagger().fit(X, y)
        >>> (labelings,) = tagger.sample([["Bob", "met"]], 1000)
        >>> share = sum(labels[1] == "O" for labels in labelings) / 1000
        >>> marginal = tagger.predict_marginals([["Bob", "met"]])[0][1]["O"]
        >>> bool(abs(share - marginal) < 0.06)
        True
        """
        return self.predict_all(X).sampled(n, unit_variance, **options)

    def score(
        self, X: Iterable[Any], y: Iterable[Any], sample_weight: ArrayLike | None = None
    ) -> float:
        """Return the share of words whose label is right.

        Parameters
        ----------
        X : iterable of sequences
            The sequences.
        y : iterable of sequences of str
            Their labels.
        sample_weight : array-like of shape (n_sequences,), default=None
            Each word counts as much as its sequence weighs.

        Returns
        -------
        accuracy : float
            The token accuracy.
        """
        return token_accuracy_score(y, self.predict(X), sample_weight=sample_weight)

    def save(
        self,
        path: str | PathLike[str],
        dtype: str | None = None,
        *,
        mapped: bool = False,
        train_hashes: bool = False,
    ) -> None:
        """Write the fitted tagger to a file, without pickle.

        The same training gives the same bytes: the seconds in ``history_`` are left
        out. A ``random_state`` that is not an integer is saved as None. No training
        sentence is in the file, nor a hash of one unless ``train_hashes`` is set.

        Parameters
        ----------
        path : str or path-like
            The file; an older one is replaced only when the new one is complete.
        dtype : {"float16"} or None, default=None
            "float16" stores weights and variances in half precision, each table with a
            scale of its own: they take half the space, are rounded to three digits, and
            hardly a label changes. The precision of the loaded tagger is the same.
        mapped : bool, default=False
            Whether to store the model as it is in memory, so that processes that open
            the file with ``mapped=True`` share it. By default it is packed, without
            loss, to a fifth to a half of that: of weights those that training has
            touched where that halves their space, names without their hash table, and
            bytes in the block format of LZ4. The loaded tagger is the same bit for bit.
        train_hashes : bool, default=False
            Whether to write a hash of each training sequence, for ``train_overlap``:
            anyone who has the file can then test whether a sequence was used.
        """
        header, arrays = self._compacted(by_cells=not mapped)
        if train_hashes and getattr(self, "training_hashes_", None) is not None:
            arrays["training_hashes"] = self.training_hashes_
        if getattr(self, "reading_", None) is not None:
            # How the command line has read the corpus, so that it can read others so.
            header["reading"] = self.reading_
        write_model(path, header, arrays, dtype=dtype, pack=not mapped)

    @property
    def size_(self):
        """About how many bytes the file of the model takes."""
        try:
            return model_size(*self._compacted())
        except ValueError as error:
            # What cannot be saved has no file.
            raise AttributeError(str(error)) from error

    def _compacted(self, by_cells=True):
        """Return the header and the arrays as they are in the file."""
        header, arrays = self.to_saved()
        arrays, recipes = compacted(arrays, by_cells)
        return {**header, **recipes}, arrays

    def _plain_params(self):
        params = super()._plain_params()
        if callable(params.get("constraints")):
            raise ValueError(
                "constraints is a function, which cannot be saved without pickle; "
                "give it as (label names, matrix)"
            )
        return params


def _inside(wrapped, method):
    """Tell whether the tagger inside has a method."""
    return getattr(wrapped.estimator, method, None) is not None


class WrappedTagger(BaseSequenceTagger):
    """Base of the taggers around another one: ``estimator``, fitted as ``estimator_``.

    Sequences, features and passes are those of the inner tagger.
    """

    @available_if(lambda self: _inside(self, "encode"))
    def encode(self, X: Iterable[Any]) -> Any:
        """Return sequences in compiled form, to be used several times.

        Parameters
        ----------
        X : iterable of sequences
            The sequences; features not known are left out.

        Returns
        -------
        batch : SequenceBatch
            The encoded sequences.
        """
        check_is_fitted(self)
        return self.estimator_.encode(X)

    def train_overlap(self, X: Iterable[Any], unit: str = "word") -> float:
        """Return the fraction of the words of X that the inner tagger has learned from.

        Parameters
        ----------
        X : iterable of sequences
            The sequences.
        unit : {"word", "sentence"}, default="word"
            What is counted: the words, or the sentences that have any.

        Returns
        -------
        fraction : float
            From 0 to 1. Words that were only used for calibration do not count. NaN for
            a tagger that does not remember.
        """
        check_is_fitted(self)
        inner = self.estimator_
        known = hasattr(inner, "train_overlap")
        return inner.train_overlap(X, unit) if known else np.nan

    @available_if(lambda self: _inside(self, "explain"))
    def explain(self, sequence, token=None, *, against=None):
        """Explain the label of every token of one sequence.

        Parameters
        ----------
        sequence : sequence of tokens
            One sequence, or a ``SequenceBatch`` of one.
        token : int, default=None
            Explain this token alone, counted from 0.
        against : str, default=None
            Compare the label of `token` with this one, or with the best label of this
            type: ``explain(sequence, token=3, against="LOC")`` tells why not LOC.

        Returns
        -------
        explanations : Explanations
            The answers of the inner tagger: a list, shown as a table.
        """
        check_is_fitted(self)
        return self.estimator_.explain(sequence, token=token, against=against)

    @property
    def classes_(self):
        """The labels."""
        return self.estimator_.classes_

    @property
    def n_iter_(self):
        """The number of passes of the inner tagger."""
        return self.estimator_.n_iter_

    @property
    def history_(self):
        """The passes of the inner tagger."""
        return self.estimator_.history_

    @property
    def vocabulary_(self):
        """The names of the features of the inner tagger, if it keeps them."""
        return self.estimator_.vocabulary_

    @property
    def n_features_in_(self):
        """The number of columns, if sequences were arrays of numbers."""
        return self.estimator_.n_features_in_


def layers(model):
    """Yield a model, the one that it is built around, and so on inwards."""
    while model is not None:
        yield model
        model = getattr(model, "estimator_", None)
