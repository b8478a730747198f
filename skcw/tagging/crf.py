"""The conditional random field, trained by CRFsuite."""

import sys
from collections.abc import Iterable
from dataclasses import KW_ONLY, dataclass
from numbers import Integral, Real
from os import PathLike
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.exceptions import NotFittedError
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from skcw._model.examples import CONSTRAINTS, Examples, legal_steps
from skcw._util.checks import check_same_lengths
from skcw._util.compat import Interval, StrOptions, _fit_context
from skcw._util.files import replacing
from skcw._util.one_step import changes_at_once
from skcw._util.ragged import split_rows
from skcw.data.batch import SequenceBatch
from skcw.data.encoder import check_batch, encode_any
from skcw.data.labels import encode_labels
from skcw.data.vocabulary import Vocabulary
from skcw.io.model_files import naming
from skcw.tagging import crfsuite as _crfsuite
from skcw.tagging.base import N_JOBS
from skcw.tagging.belief_tagger import BeliefTagger
from skcw.tagging.crfsuite_files import Weights, read_weights, write_weights


@dataclass(eq=False, repr=False, match_args=False)
class CRFSequenceTagger(BeliefTagger):
    """Linear-chain conditional random field, trained by CRFsuite [1]_.

    The probability of a labeling is proportional to the exponential of its score,
    the summed weights of its (feature, label) and (label, next label) pairs.
    ``algorithm="lbfgs"`` maximizes the log-likelihood of the training labels less
    ``c1 * ||w||_1 + c2 * ||w||_2^2``.

    The model is the one of ``sklearn_crfsuite.CRF``: same labels, same marginals. Once
    trained, its weights are those of an ordinary tagger, with all that others have:
    every form of input, n-best labelings, constraints, explanations, probabilities of
    entities and of given labels. ``from_crfsuite`` and ``to_crfsuite`` read and write
    CRFsuite's own files.

    Parameters
    ----------
    algorithm : {"lbfgs", "l2sgd", "ap", "pa", "arow"}, default="lbfgs"
        Gradient descent by L-BFGS, stochastic gradient descent, averaged perceptron,
        passive aggressive, or AROW. The last three are not probabilistic models: their
        marginals are a softmax of scores whose scale means nothing.
    c1 : float, default=None
        Weight of the L1 penalty, for "lbfgs". None is CRFsuite's 0.
    c2 : float, default=None
        Weight of the L2 penalty, for "lbfgs" and "l2sgd". None is CRFsuite's 1, too
        strong for most corpora: compare with a tuned one.
    max_iter : int, default=None
        Most iterations or passes. None is CRFsuite's own limit: none for "lbfgs",
        1000 for "l2sgd", else 100.
    max_iterations : int, default=None
        CRFsuite's name of ``max_iter``: give one of the two.
    min_count : float, default=0
        Leave out features whose summed value in the training data is smaller. 0 keeps
        every feature (CRFsuite's own 0 drops those with a negative sum).
    all_possible_states : bool, default=False
        Make a weight for every feature with every label, not only as they occur.
    all_possible_transitions : bool, default=False
        The same for pairs of labels.
    trainer_params : dict, default=None
        Further parameters of the algorithm under CRFsuite's names, such as
        ``{"epsilon": 1e-4}`` or ``{"calibration.eta": 0.05}``.
    constraints : str, callable, (names, matrix) or None, default=None
        Which labels may follow each other in predictions, as for the other taggers.
        Training knows nothing of it, and None is CRFsuite's own model.
    n_jobs : int, default=None
        Number of threads for decoding. Training has one.
    random_state : int, RandomState instance or None, default=None
        Controls the order in which all algorithms but "lbfgs" take the sequences.
        CRFsuite draws from ``rand`` of the C library, whose state belongs to the whole
        process: with None the result depends on what was drawn before, and a seed
        sets that state. Platforms draw differently.
    verbose : int, default=0
        Whether to print one line per iteration.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels in the order of their first appearance in the training data.
    coef_ : ndarray of shape (n_features, n_classes)
        The weights. One row per feature; classifiers have one per class.
    transition_coef_ : ndarray of shape (n_classes, n_classes)
        The weights of label j after label i.
    feature_names_ : ndarray of str
        The names of the features.
    state_features_, transition_features_ : mapping
        The weight of every (feature, label) and of every (label, next label) that
        CRFsuite has given one.
    attributes_ : list of str
        The features that have a weight; ``num_attributes_`` is their number.
    size_ : int
        About how many bytes the file of the model takes.
    tagger_ : pycrfsuite.Tagger
        CRFsuite's own tagger with the same weights, without constraints. It is made
        anew at each access: keep it if you need it often.
    constraints_ : str or None
        The constraints in force: a scheme, "given" for a function or a matrix, or None.
    scheme_faults_ : dict
        How many of the "sequences" learned from break each scheme.
    n_iter_ : int
        Number of iterations.
    history_ : list of dict
        For every iteration its number ("epoch"), "loss", "seconds" and, with held-out
        data, the token accuracy on them ("dev_score").
    n_features_in_ : int
        Number of columns, if sequences were 2-D arrays or sparse matrices.

    References
    ----------
    .. [1] N. Okazaki, "CRFsuite: a fast implementation of conditional random fields",
       2007, http://www.chokkan.org/software/crfsuite/

    Examples
    --------
    >>> from skcw.tagging import CRFSequenceTagger
    >>> X = [["Ann", "met", "Bob"], ["Bob", "left"]]
    >>> y = [["B-PER", "O", "B-PER"], ["B-PER", "O"]]
    >>> tagger = CRFSequenceTagger(c2=0.1).fit(X, y)
    >>> tagger.predict([["Ann", "left"], []])
    array([list(['B-PER', 'O']), list([])], dtype=object)
    >>> tagger.predict_confidence([["Ann", "left"], []])[0].round(2)
    array([0.85, 0.84])
    >>> tagger.transition_features_["B-PER", "O"] > 0
    True
    """

    algorithm: str = "lbfgs"
    _: KW_ONLY
    c1: float | None = None
    c2: float | None = None
    max_iter: int | None = None
    max_iterations: int | None = None
    min_count: float = 0
    all_possible_states: bool = False
    all_possible_transitions: bool = False
    trainer_params: dict[Any, Any] | None = None
    constraints: Any = None
    n_jobs: int | None = None
    random_state: int | np.random.RandomState | None = None
    verbose: int = 0

    _parameter_constraints = {
        "algorithm": [StrOptions(set(_crfsuite.ALGORITHMS))],
        "c1": [Interval(Real, 0, None, closed="left"), None],
        "c2": [Interval(Real, 0, None, closed="left"), None],
        "max_iter": [Interval(Integral, 1, None, closed="left"), None],
        "max_iterations": [Interval(Integral, 1, None, closed="left"), None],
        "min_count": [Interval(Real, 0, None, closed="left")],
        "all_possible_states": ["boolean"],
        "all_possible_transitions": ["boolean"],
        "trainer_params": [dict, None],
        "constraints": CONSTRAINTS,
        "n_jobs": N_JOBS,
        "random_state": ["random_state"],
        "verbose": ["verbose"],
    }

    _log_probability = True

    @changes_at_once
    @_fit_context(prefer_skip_nested_validation=True)
    def fit(
        self,
        X: Iterable[Any],
        y: Iterable[Any],
        sample_weight: ArrayLike | None = None,
        X_dev: Any = None,
        y_dev: Any = None,
    ) -> Self:
        """Train the model.

        Parameters
        ----------
        X : iterable of sequences
            A list, object array, iterator or ``SequenceBatch`` of sequences. A token
            is a list of feature strings, a dict as sklearn-crfsuite takes it, or a
            string; or a sequence is a 2-D array or CSR matrix of numbers.
        y : iterable of label sequences
            A list of strings for every sequence.
        sample_weight : array of shape (n_sequences,), default=None
            Whole numbers: how many copies of a sequence are in the training data.
        X_dev, y_dev : as X and y, default=None
            Held-out data. They change nothing in the model: CRFsuite reports the
            accuracy on them in ``history_``. Sequences with labels that the training
            data do not have are left out.

        Returns
        -------
        self : object
        """
        if (X_dev is None) != (y_dev is None):
            raise ValueError(
                "give both X_dev and y_dev by name, or neither (the third argument is "
                "sample_weight)"
            )
        algorithm, params = self.algorithm, self._crfsuite_params()
        trainer = _crfsuite.make_trainer(algorithm, params, self.verbose)
        batch = self._training_batch(X, fresh=True).with_precision("float64")
        data, labels = self._training_data(batch, y, sample_weight)
        # The warning names the line that calls fit, above two decorators.
        rules = legal_steps(self, labels, data, True, "float64", 5)
        copies = _crfsuite.numbers_of_copies(data.weight)
        rows = _named(data.codes, labels, data.batch.offsets)
        _crfsuite.append(trainer, data.batch, rows, copies)
        if X_dev is not None:
            self._append_dev(trainer, X_dev, y_dev, batch, set(labels))
        model = _crfsuite.train(trainer, holdout=X_dev is not None, seed=self._seed())
        memory = self._memory(data)
        vars(self).pop("confidence_", None)
        self._keep_weights(model, batch, rules.forbidden)
        self.belief_.check_finite()
        vars(self).update(rules.attributes())
        self.history_ = trainer.history()
        self.n_iter_ = len(self.history_)
        self.training_hashes_ = memory
        return self

    def _training_data(self, batch, y, sample_weight):
        """Return what CRFsuite is given, and the labels in its numbering."""
        data, labels = self._examples(batch, y, sample_weight)
        _crfsuite.check_names(labels, "label")
        if batch.vocabulary is not None:
            _crfsuite.check_names(batch.vocabulary.names(), "feature")
        used = data.used()
        if used.all():
            return data, labels
        # Labels of sequences that count nothing are not in the model.
        data = data.take(np.flatnonzero(used))
        used = list(dict.fromkeys(data.codes.tolist()))
        number = np.zeros(len(labels), dtype=np.int32)
        number[used] = np.arange(len(used))
        return data._replace(codes=number[data.codes]), [labels[code] for code in used]

    def _append_dev(self, trainer, X_dev, y_dev, batch, known):
        """Give CRFsuite the held-out sequences all of whose labels it will know.

        A new label would become part of the model and change its probabilities.
        """
        if isinstance(X_dev, SequenceBatch):
            dev = check_batch(X_dev, batch.vocabulary, batch.n_features)
        else:
            columns = batch.n_features if batch.vocabulary is None else None
            dev = encode_any(X_dev, batch.vocabulary, grow=False, n_columns=columns)
        codes, lengths, labels = encode_labels(y_dev)
        check_same_lengths(dev.lengths, lengths)
        rows = _named(codes, labels, dev.offsets)
        rows = [row if known.issuperset(row) else None for row in rows]
        _crfsuite.append(trainer, dev, rows, group=1)

    def _seed(self):
        if self.random_state is None:
            return None
        return int(check_random_state(self.random_state).randint(2**31 - 1))

    def _crfsuite_params(self):
        """Return the parameters that are set, under CRFsuite's names."""
        if None not in (self.max_iter, self.max_iterations):
            raise ValueError("max_iter and max_iterations are one: give only one")
        params = {
            "c1": self.c1,
            "c2": self.c2,
            "max_iterations": self.max_iter or self.max_iterations,
            "feature.minfreq": _crfsuite.minimum_frequency(self.min_count),
            "feature.possible_states": self.all_possible_states,
            "feature.possible_transitions": self.all_possible_transitions,
        }
        params = {name: value for name, value in params.items() if value is not None}
        return params | (self.trainer_params or {})

    def _keep_weights(self, model, batch=None, forbidden=None):
        """Set the fitted state by the bytes of a CRFsuite model."""
        weights = read_weights(model)
        if batch is None:
            vocabulary = Vocabulary.from_names(weights.attributes)
            rows = np.arange(len(weights.attributes))
        else:
            vocabulary, rows = batch.vocabulary, weights.rows_of(batch._names())
        belief = weights.belief(rows)
        self._keep(self._fitted(belief, vocabulary, weights.labels, forbidden))

    @classmethod
    def from_crfsuite(cls, path: str | PathLike[str], **params: Any) -> Self:
        """Return a tagger with the weights in a file of CRFsuite.

        .. warning::
           The format has no checksum. The structure of the file is validated, and
           CRFsuite's own reader, which crashes on some damaged files, does not see it;
           but a file with changed weights may pass. Take it from a source that you
           trust, and save the tagger by ``save``.

        Parameters
        ----------
        path : str or path-like
            A file that CRFsuite, python-crfsuite or ``to_crfsuite`` wrote.
        **params : object
            Parameters of the constructor, such as ``n_jobs`` or ``constraints``.

        Returns
        -------
        tagger : CRFSequenceTagger
            The fitted tagger.

        Examples
        --------
        >>> from pathlib import Path
        >>> from tempfile import TemporaryDirectory
        >>> from skcw.tagging import CRFSequenceTagger
        >>> X, y = [["Ann", "met", "Bob"]], [["PER", "O", "PER"]]
        >>> tagger = CRFSequenceTagger().fit(X, y)
        >>> with TemporaryDirectory() as folder:
        ...     tagger.to_crfsuite(Path(folder) / "names.crfsuite")
        ...     again = CRFSequenceTagger.from_crfsuite(Path(folder) / "names.crfsuite")
        >>> again.predict(X)[0]
        ['PER', 'O', 'PER']
        """
        tagger = cls(**params)
        tagger._validate_params()
        with naming(path):
            tagger._keep_weights(Path(path).read_bytes())
        # What CRFsuite has learned from is not in its file.
        data = Examples(tagger.encode([]), np.zeros(0, dtype=np.int32), None)
        rules = legal_steps(tagger, tagger.classes_.tolist(), data, True, "float64", 3)
        tagger.forbidden_ = rules.forbidden
        vars(tagger).update(rules.attributes())
        tagger.n_iter_, tagger.history_, tagger.training_hashes_ = 0, [], None
        return tagger

    def to_crfsuite(self, path: str | PathLike[str]) -> None:
        """Write the model as a file of CRFsuite, which ``pycrfsuite.Tagger`` opens.

        The file holds labels, features and weights. It has no place for constraints or
        for fitted confidence.

        Parameters
        ----------
        path : str or path-like
            The file; an older one is replaced only when the new one is complete.
        """
        model = self._crfsuite_model()
        with replacing(path) as draft:
            draft.write_bytes(model)

    def _crfsuite_model(self):
        """Return the bytes of a file of CRFsuite."""
        check_is_fitted(self, "belief_")
        labels, names = self.classes_.tolist(), self.feature_names_
        return write_weights(Weights.from_belief(self.belief_, labels, names))

    @property
    def tagger_(self):
        """A ``pycrfsuite.Tagger`` with the same weights, made anew at each access."""
        return _crfsuite.OpenedTagger(self._crfsuite_model())


def _named(codes, labels, offsets):
    """Return the labels of each sequence as lists of strings."""
    return split_rows([labels[code] for code in codes.tolist()], offsets)


def as_tagger(estimator):
    """Return a tagger for a fitted ``sklearn_crfsuite.CRF``, anything else as it is.

    Parameters
    ----------
    estimator : object
        A fitted estimator.

    Returns
    -------
    tagger : object
        A `CRFSequenceTagger` with the weights of the CRF: it has the same labels and
        marginals, and predicts whatever a tagger can.

    Examples
    --------
    >>> from sklearn_crfsuite import CRF
    >>> from skcw.tagging.crf import as_tagger
    >>> crf = CRF().fit([["Ann", "met", "Bob"]], [["PER", "O", "PER"]])
    >>> as_tagger(crf).predict([["Bob"]])[0]
    ['PER']
    """
    package = sys.modules.get("sklearn_crfsuite")
    if package is None or not isinstance(estimator, package.CRF):
        return estimator
    if estimator.tagger_ is None:
        raise NotFittedError("this CRF of sklearn-crfsuite is not fitted yet")
    return CRFSequenceTagger.from_crfsuite(estimator.modelfile.name)
