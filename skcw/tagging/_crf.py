"""The conditional random field of CRFsuite behind the contract of the taggers."""

from contextlib import contextmanager
from numbers import Integral, Real

import numpy as np
import pycrfsuite
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from skcw._compat import Interval, StrOptions, _fit_context
from skcw.data.ragged import object_rows
from skcw.exceptions import ModelFileError
from skcw.tagging._base import BaseSequenceTagger
from skcw.tagging._crfsuite_items import ItemReader, located
from skcw.tagging._crfsuite_model import (
    digest,
    model_labels,
    n_best,
    named_weights,
    read_weights,
)
from skcw.tagging._crfsuite_training import (
    ALGORITHMS,
    append_held_out,
    append_training,
    copies,
    make_trainer,
    minimum_frequency,
    parse_log,
    record,
    train,
)
from skcw.tagging._memory import TrainingMemory, items_hashes


class CRFSequenceTagger(TrainingMemory, BaseSequenceTagger):
    """Linear-chain conditional random field, trained by CRFsuite [1]_.

    The probability of a labeling is proportional to the exponential of its score,
    the summed weights of its (feature, label) and (label, next label) pairs.
    ``algorithm="lbfgs"`` maximises the log-likelihood of the training labels less
    ``c1 * ||w||_1 + c2 * ||w||_2^2``.

    The model is the one of ``sklearn_crfsuite.CRF``: same labels, same marginals. It
    differs in what surrounds it: one row per sequence whatever the lengths, no files,
    all input forms of the other taggers, and n-best labelings.

    Parameters
    ----------
    algorithm : {"lbfgs", "l2sgd", "ap", "pa", "arow"}, default="lbfgs"
        Gradient descent by L-BFGS, stochastic gradient descent, averaged perceptron,
        passive aggressive, or AROW. The last three are no probabilistic models: their
        marginals are a softmax of scores whose scale means nothing.
    c1 : float, default=None
        Weight of the L1 penalty, for "lbfgs". None is CRFsuite's 0.
    c2 : float, default=None
        Weight of the L2 penalty, for "lbfgs" and "l2sgd". None is CRFsuite's 1, too
        strong for most corpora: compare with a tuned one.
    max_iterations : int, default=None
        Most iterations or passes. None is CRFsuite's own limit: none for "lbfgs",
        1000 for "l2sgd", else 100.
    min_freq : float, default=0
        Leave out features whose summed value in the training data is smaller. 0 keeps
        every feature (CRFsuite's own 0 drops those with a negative sum).
    all_possible_states : bool, default=False
        Make a weight for every feature with every label, not only as they occur.
    all_possible_transitions : bool, default=False
        The same for pairs of labels.
    trainer_params : dict, default=None
        Further parameters of the algorithm under CRFsuite's names, such as
        ``{"epsilon": 1e-4}`` or ``{"calibration.eta": 0.05}``.
    random_state : int, RandomState instance or None, default=None
        Seed of the order in which all algorithms but "lbfgs" take the sequences.
        CRFsuite draws from ``rand`` of the C library, whose state belongs to the whole
        process: with None the result depends on what was drawn before, and a seed
        sets that state. Platforms draw differently.
    verbose : int, default=0
        Whether to print a line for every iteration.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels in the order of their first appearance in the training data.
    model_bytes_ : bytes
        The model as CRFsuite writes it into a file; ``pycrfsuite.Tagger`` opens it.
    state_features_, transition_features_ : dict
        The weight of every (feature, label) and of every (label, next label).
    attributes_ : list of str
        The features that have a weight.
    size_ : int
        Size of the model in bytes.
    n_iter_ : int
        Number of iterations.
    history_ : list of dict
        For every iteration its number ("epoch"), "loss", "seconds" and, with held-out
        data, the token accuracy on them ("dev_score").
    training_log_ : object
        CRFsuite's log, parsed by python-crfsuite.
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

    _parameter_constraints: dict = {
        "algorithm": [StrOptions(set(ALGORITHMS))],
        "c1": [Interval(Real, 0, None, closed="left"), None],
        "c2": [Interval(Real, 0, None, closed="left"), None],
        "max_iterations": [Interval(Integral, 1, None, closed="left"), None],
        "min_freq": [Interval(Real, 0, None, closed="left")],
        "all_possible_states": ["boolean"],
        "all_possible_transitions": ["boolean"],
        "trainer_params": [dict, None],
        "random_state": ["random_state"],
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        algorithm="lbfgs",
        *,
        c1=None,
        c2=None,
        max_iterations=None,
        min_freq=0,
        all_possible_states=False,
        all_possible_transitions=False,
        trainer_params=None,
        random_state=None,
        verbose=0,
    ):
        self.algorithm = algorithm
        self.c1 = c1
        self.c2 = c2
        self.max_iterations = max_iterations
        self.min_freq = min_freq
        self.all_possible_states = all_possible_states
        self.all_possible_transitions = all_possible_transitions
        self.trainer_params = trainer_params
        self.random_state = random_state
        self.verbose = verbose

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y, sample_weight=None, X_dev=None, y_dev=None):
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
            accuracy on them in ``history_`` and ``training_log_``. Sequences with
            labels that the training data do not have are left out.

        Returns
        -------
        self : object
        """
        if (X_dev is None) != (y_dev is None):
            raise ValueError(
                "give both X_dev and y_dev by name, or neither (the third argument is "
                "sample_weight)"
            )
        trainer = make_trainer(self.algorithm, self._crfsuite_params(), self.verbose)
        reader = ItemReader()
        weight = copies(sample_weight)
        classes, memory = append_training(trainer, reader, X, y, weight)
        if X_dev is not None:
            append_held_out(trainer, reader, X_dev, y_dev, classes)
        model = train(trainer, holdout=X_dev is not None, seed=self._seed())
        return self._keep(model, trainer.logparser.log, reader.n_columns, memory)

    def _seed(self):
        if self.random_state is None:
            return None
        return int(check_random_state(self.random_state).randint(2**31 - 1))

    def _crfsuite_params(self):
        """Return the parameters that are set, under CRFsuite's names."""
        params = {
            "c1": self.c1,
            "c2": self.c2,
            "max_iterations": self.max_iterations,
            "feature.minfreq": minimum_frequency(self.min_freq),
            "feature.possible_states": self.all_possible_states,
            "feature.possible_transitions": self.all_possible_transitions,
        }
        params = {name: value for name, value in params.items() if value is not None}
        return params | (self.trainer_params or {})

    def _keep(self, model, log, n_columns, memory):
        """Set the fitted state: nothing but builtins and arrays."""
        history = [record(iteration) for iteration in parse_log(log).iterations]
        self.classes_ = np.array(model_labels(model), dtype=str)
        self.model_bytes_ = model
        self.history_ = history
        self.n_iter_ = len(history)
        self._log = list(log)
        self.training_hashes_ = memory
        vars(self).pop("n_features_in_", None)
        if n_columns is not None:
            self.n_features_in_ = n_columns
        return self

    @contextmanager
    def _opened_tagger(self):
        """Open the model for one call.

        So the estimator holds nothing that cannot be pickled, and threads can predict
        at once. CRFsuite does not copy the bytes: the local name keeps them alive.
        """
        model = self.model_bytes_
        tagger = pycrfsuite.Tagger()
        with tagger.open_inmemory(model):
            yield tagger

    def _tag(self, X, read_row, empty_row):
        """Return ``read_row(tagger, length)`` for every sequence that is not empty."""
        check_is_fitted(self, "model_bytes_")
        rows = []
        with self._opened_tagger() as tagger:
            for s, tokens in enumerate(self._reader().read_all(X)):
                if not tokens:
                    rows.append(empty_row())
                    continue
                with located(s):
                    tagger.set(tokens)
                rows.append(read_row(tagger, len(tokens)))
        return object_rows(rows)

    def _sequence_hashes(self, X):
        return items_hashes(self._reader().read_all(X))

    def _reader(self):
        return ItemReader(getattr(self, "n_features_in_", None))

    def predict(self, X):
        """Return the most probable labeling of every sequence.

        Parameters
        ----------
        X : iterable of sequences
            As in :meth:`fit`. Features that the model does not know count nothing.

        Returns
        -------
        y : ndarray of shape (n_sequences,), dtype object
            A list of labels for every sequence.
        """
        return self._tag(X, lambda tagger, length: tagger.tag(), list)

    def predict_marginals(self, X):
        """Return the probability of every label for every token.

        Parameters
        ----------
        X : iterable of sequences

        Returns
        -------
        marginals : ndarray of shape (n_sequences,), dtype object
            For every sequence a list with a dict from label to probability for every
            token. The most probable label of a token may differ from the one in the
            most probable labeling.
        """
        check_is_fitted(self, "model_bytes_")
        labels = self.classes_.tolist()

        def read_row(tagger, length):
            return [
                {label: tagger.marginal(label, at) for label in labels}
                for at in range(length)
            ]

        return self._tag(X, read_row, list)

    def predict_confidence(self, X, method=None):
        """Return how sure the model is of every predicted label.

        Parameters
        ----------
        X : iterable of sequences
        method : {"marginal"} or None, default=None
            Both are the probability of the predicted label.

        Returns
        -------
        confidence : ndarray of shape (n_sequences,), dtype object
            A float array for every sequence.
        """
        if method not in (None, "marginal"):
            raise ValueError(f"method must be 'marginal' or None, got {method!r}")

        def read_row(tagger, length):
            labels = tagger.tag()
            confidence = [tagger.marginal(labels[at], at) for at in range(length)]
            # Rounding may lift a sure label above one.
            return np.minimum(confidence, 1.0)

        return self._tag(X, read_row, lambda: np.empty(0))

    def predict_nbest(self, X, n):
        """Return the n most probable labelings of every sequence.

        CRFsuite has only the first one; the others are decoded from its weights.

        Parameters
        ----------
        X : iterable of sequences
        n : int
            How many.

        Returns
        -------
        labelings : ndarray of shape (n_sequences,), dtype object
            For every sequence a list of ``(labels, log-probability)``, best first,
            fewer than n where there are fewer labelings.
        """
        check_is_fitted(self, "model_bytes_")
        if not isinstance(n, Integral) or n < 1:
            raise ValueError(f"n must be a positive integer, got {n!r}")
        sequences = list(self._reader().read_all(X))
        return object_rows(n_best(read_weights(self.model_bytes_), sequences, int(n)))

    @property
    def state_features_(self):
        """The weight of every (feature, label)."""
        weights = self._weights()
        return named_weights(weights.states, weights.attributes, weights.labels)

    @property
    def transition_features_(self):
        """The weight of every (label, next label)."""
        weights = self._weights()
        return named_weights(weights.transitions, weights.labels, weights.labels)

    @property
    def attributes_(self):
        """The features that have a weight."""
        return self._weights().attributes

    @property
    def size_(self):
        """Size of the model in bytes."""
        check_is_fitted(self, "model_bytes_")
        return len(self.model_bytes_)

    @property
    def training_log_(self):
        """CRFsuite's log, parsed by python-crfsuite."""
        check_is_fitted(self, "model_bytes_")
        return parse_log(self._log)

    def _weights(self):
        check_is_fitted(self, "model_bytes_")
        return read_weights(self.model_bytes_)

    def _state(self):
        """Return what a saved model consists of: plain values, and arrays."""
        check_is_fitted(self, "model_bytes_")
        state = {
            "log": self._log,
            "n_features_in": getattr(self, "n_features_in_", None),
            "digest": digest(self.model_bytes_),
        }
        model = np.frombuffer(self.model_bytes_, dtype=np.uint8)
        return state, {"model": model, **self._memory_arrays()}

    def _restore(self, state, arrays):
        """Set the fitted state from what was saved."""
        model = arrays["model"].tobytes()
        # CRFsuite reads what it is given and crashes on damaged bytes.
        if digest(model) != state["digest"]:
            raise ModelFileError("the bytes of the CRFsuite model were changed")
        memory = arrays.get("training_hashes")
        self._keep(model, state["log"], state["n_features_in"], memory)
