"""``RerankedTagger``: reranking of the n-best lists of a tagger."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import KW_ONLY, dataclass
from numbers import Integral
from time import perf_counter
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted
from tqdm import tqdm

from skcw._util.checks import check_sample_weight
from skcw._util.compat import HasMethods, Interval, StrOptions, _fit_context
from skcw._util.limits import MOST_IN_A_FILE
from skcw._util.one_step import changes_at_once, reads_at_once
from skcw._util.ragged import object_rows
from skcw.confidence import Predictions
from skcw.confidence.held_out import reusable_rows
from skcw.confidence.methods import ServedMethods
from skcw.data import SequenceBatch
from skcw.data.saved import saved_kind, saved_number, saved_texts
from skcw.data.vocabulary import Vocabulary
from skcw.features import WindowFeatures
from skcw.io.loading import SavedModelMixin
from skcw.reranking.base import BaseReranker, ScoreReranker
from skcw.reranking.candidates import LOSSES
from skcw.reranking.global_features import TEMPLATES, GlobalFeatures
from skcw.reranking.online import CWReranker
from skcw.reranking.scored import (
    METHODS,
    Confidence,
    RerankedLayer,
    ScoredCandidates,
    learned_confidence,
)
from skcw.reranking.selection import (
    LEAST_EVIDENCE,
    HeldOut,
    Jackknife,
    ListEncoder,
    Sentences,
    Trial,
    best_of,
    folds_to_hold_out,
    halved_folds,
    most_evidence,
    sentence_folds,
)
from skcw.reranking.words import (
    find_word_prefix,
    first_columns,
    token_rows,
    words_of_features,
)
from skcw.tagging import BaseSequenceTagger
from skcw.tagging.base import only_sequence
from skcw.tagging.online import OnlineTagger

# About how many times the time of the base tagger the rest takes.
SHARE_OF_BASE = 8


class Choice(NamedTuple):
    """Why a reranker has chosen a labeling and not that of the base tagger.

    Parameters
    ----------
    labels : list of str
        The labels chosen.
    base_labels : list of str
        Those of the base tagger, which may be the same.
    score : float
        The difference of the scores of the base tagger, not positive.
    gained : list of (str, float)
        The global features that only the choice has, with their weights, the strongest
        first; positive ones favor it.
    lost : list of (str, float)
        Those that only the labels of the base tagger have: negative ones speak for the
        choice.

    Examples
    --------
    >>> from skcw.reranking.tagger import Choice
    >>> choice = Choice(["O"], ["B-PER"], -0.5, [], [("PER LWLC=1", -1.25)])
    >>> choice.advantage
    0.75
    """

    labels: list
    base_labels: list
    score: float
    gained: list
    lost: list

    @property
    def advantage(self):
        """By how much the choice scores higher than the labels of the base tagger."""
        gained = sum(weight for _, weight in self.gained)
        return self.score + gained - sum(weight for _, weight in self.lost)


@dataclass(eq=False, repr=False, match_args=False)
class RerankedTagger(BaseSequenceTagger):
    """Tagger that reranks the n-best lists of another one.

    The reranker sees features of a whole labeling: complete entities, what stands
    around them, whether a quotation is one name. It learns from lists that are as good
    as those of new sentences: each training sentence is labeled by a copy of the base
    tagger that has not seen it.

    Parameters
    ----------
    estimator : estimator
        A tagger or a :class:`skcw.TaggingPipeline`.
    reranker : BaseReranker, default=None
        The reranker; None is ``CWReranker(random_state=0)``.
    n_best : int, default=20
        How many labelings it chooses from.
    cv : int, default=5
        The number of folds of neighboring sentences; a copy of the base tagger is
        fitted without each. Sentences with the same features share a fold.
    templates : sequence of str, default=("entities", "quotations", "types")
        Templates of :class:`GlobalFeatures`. The last one is of no use where all
        entities have the same type.
    functions : sequence of callables, default=()
        Features of your own, ``function(tokens, labels)``. A tagger that has some
        cannot be saved without pickle.
    lexicon : sequence of str, default=None
        Words that are mostly written with a small letter; None learns them from X.
    min_count : int, default=5
        Global features on candidates of fewer sentences are left out.
    loss : {"labels", "entities"}, default="entities"
        The errors of candidates to minimize: wrong labels, as in the paper, or entities
        that are missing or too many.
    word_prefix : str, default=None
        Where tokens are given by their features, what the name of the feature with the
        word begins with, such as ``"word[0]="``; a string value of a dict follows after
        a colon: ``"word:"``. None looks for a feature that is usually called so, and
        warns if there is none: features would see no words. The words of a pipeline are
        the first column. Arrays of numbers have no words.
    held_out_folds : int or "auto", default="auto"
        How many of the folds decide, each held out in turn, whether to rerank at all
        and, if the ``score_scale`` of the reranker is None, by which one. "auto" is one
        where that is clear, with no evidence for it or 2, and else two; and none where
        even the best candidates would be no evidence. 0 reranks in any case, with a
        scale of 2 if none is given: use it in a search over parameters.
    verbose : int, default=0
        Whether to show progress, with the time that it takes about once the base tagger
        is fitted.

    Attributes
    ----------
    estimator_ : estimator
        The base tagger, fitted on all sentences.
    reranker_ : BaseReranker
        The fitted reranker: that of the trials with the highest score, or
        :class:`ScoreReranker` if the evidence for it is below 1.5.
    reranks_ : bool
        Whether labels are reranked, or left as the base tagger has them.
    trials_ : list of Trial
        The evidence: scores of each variant of the reranker, and of the base tagger, on
        sentences held out; empty where even the best candidates were no evidence.
    global_features_ : GlobalFeatures
        The fitted features; none where labels are left as they are.
    confidence_ : Confidence
        The temperature of the candidates' probabilities, and how much of the confidence
        is that of the base tagger.
    word_prefix_ : str or None
        By which features words are found; None where tokens are words.
    classes_, n_iter_, history_ : object
        Those of the base tagger.

    See Also
    --------
    oracle_scores : The scores of a perfect reranker.

    Notes
    -----
    Where labels are reranked, the only method of confidence is ``"marginal"``: the
    probability of the candidates that have the label, mixed with the confidence of the
    base tagger. The held-out folds decide how, by their log loss; without any, the
    candidates alone are asked. ``predict_nbest`` then gives at most `n_best` labelings.
    Where labels are left as they are, all answers are those of the base tagger.

    Labels are reranked only if held-out sentences favor it by at least one and a half
    standard deviations; otherwise the order of the base tagger stays.

    Examples
    --------
    >>> from skcw import CWSequenceTagger, make_tagging_pipeline
    >>> from skcw.datasets import make_tagged_corpus
    >>> from skcw.reranking import CWReranker, RerankedTagger
    >>> X, y = make_tagged_corpus(200, random_state=0, return_X_y=True)
    >>> base = make_tagging_pipeline("ner", CWSequenceTagger(random_state=0))
    >>> tagger = RerankedTagger(base, CWReranker(random_state=0), cv=3).fit(X, y)
    >>> tagger.predict(X)[0] == y[0]
    True
    >>> len(tagger.predict_nbest(X[:1], 3)[0])
    3
    """

    estimator: Any
    reranker: Any = None
    _: KW_ONLY
    n_best: int = 20
    cv: int = 5
    templates: Iterable[Any] = TEMPLATES
    functions: Sequence[Any] = ()
    lexicon: Iterable[Any] | None = None
    min_count: int = 5
    loss: str = "entities"
    word_prefix: str | None = None
    held_out_folds: int | str = "auto"
    verbose: int = 0

    _parameter_constraints = {
        "estimator": [HasMethods(["fit", "predict_nbest"])],
        "reranker": [HasMethods(["fit", "candidate_probabilities"]), None],
        "n_best": [Interval(Integral, 1, None, closed="left")],
        "cv": [Interval(Integral, 2, None, closed="left")],
        "templates": ["array-like"],
        "functions": ["array-like"],
        "min_count": [Interval(Integral, 1, None, closed="left")],
        "loss": [StrOptions(set(LOSSES))],
        "word_prefix": [str, None],
        "held_out_folds": [
            Interval(Integral, 0, None, closed="left"),
            StrOptions({"auto"}),
        ],
        "verbose": ["verbose"],
    }

    @changes_at_once
    @_fit_context(prefer_skip_nested_validation=False)
    def fit(
        self, X: Iterable[Any], y: Iterable[Any], sample_weight: ArrayLike | None = None
    ) -> Self:
        """Learn the base tagger, and the reranker from lists of held-out sentences.

        Parameters
        ----------
        X : iterable of sequences
            The sequences, in any form that the base tagger takes.
        y : iterable of sequences of str
            Their labels.
        sample_weight : array-like of shape (n_sequences,), default=None
            How much each sequence counts, for both.

        Returns
        -------
        self : object
            The fitted tagger.
        """
        self._features().check_parameters()
        X, y = reusable_rows(X), list(y) if isinstance(y, Iterator) else y
        weights = {} if sample_weight is None else {"sample_weight": sample_weight}
        began = perf_counter()
        base = clone(self.estimator).fit(X, y, **weights)
        began = perf_counter() - began
        y = object_rows(list(labels) for labels in y)
        sentences = Sentences(X, y, check_sample_weight(sample_weight, len(y)))
        folds = sentence_folds(base, *sentences, self.cv)
        prefix = self._word_prefix(sentences[folds >= 0].X, base)
        jackknife = self._jackknife(base, sentences, folds)
        tokens, words = map(object_rows, _read(X, base, prefix))
        # Words are read once: to the encoder, sentences are their positions.
        sentences = Sentences(np.arange(len(y)), y, sentences.weight)
        encoder = ListEncoder(
            self._features,
            lambda at: (tokens[at], words[at]),
            jackknife.labels,
            self.loss,
        )
        with tqdm(
            total=len(jackknife.names) + 2,
            desc=f"reranking, about {SHARE_OF_BASE * began:.0f} s",
            disable=not self.verbose,
        ) as bar:
            found = self._learned(base, sentences, jackknife, encoder, bar)
        self.estimator_, self.word_prefix_ = base, prefix
        vars(self).update(found)
        return self

    def _jackknife(self, base, sentences, folds):
        """Return what labels sentences by taggers that have not seen them."""
        tagger, coded = _to_fit(self.estimator, base, sentences.X)
        finer = halved_folds(base, *sentences) if self.cv == 2 else None
        coded = Sentences(coded, sentences.y, sentences.weight)
        labels = _tagger_of(base).classes_.tolist()
        return Jackknife(tagger, coded, folds, self.n_best, labels, finer)

    def _learned(self, base, sentences, jackknife, encoder, bar):
        """Return the attributes of reranking."""
        nbest, used = jackknife.lists(bar), jackknife.folds >= 0
        plain = encoder.without_features(sentences[used], nbest[used])
        reranker, trials, confidence = self._chosen(
            base, sentences, jackknife, encoder, nbest, plain, bar
        )
        if not isinstance(reranker, ScoreReranker):
            plain = encoder(sentences[used], nbest[used], named=True)
        lists, errors, _, features = plain
        reranker.fit(lists, errors, sample_weight=sentences[used].weight)
        return {
            "reranker_": reranker,
            "trials_": trials,
            "confidence_": confidence,
            "global_features_": features,
        }

    def _chosen(self, base, sentences, jackknife, encoder, nbest, plain, bar):
        """Return an unfitted reranker, how it and others did, and its confidence."""
        first = CWReranker(random_state=0) if self.reranker is None else self.reranker
        if self.held_out_folds == 0:
            return clone(first), [], Confidence()
        rerankers = first.variants() if hasattr(first, "variants") else [clone(first)]
        held_out, folds = HeldOut(encoder, rerankers), jackknife.folds
        automatic = self.held_out_folds == "auto"
        tried = folds_to_hold_out(folds, self.held_out_folds)
        if automatic and most_evidence(*plain[1:3]) < LEAST_EVIDENCE:
            tried = []
        for fold in tried:
            rest = sentences[(folds >= 0) & (folds != fold)]
            lists, new = jackknife.lists_without(fold), folds == fold
            if lists is not None:
                held_out.add(rest, lists, sentences[new], nbest[new], fold)
            bar.update()
            if automatic and held_out.decided():
                break
        trials = held_out.trials() if tried else []
        best = best_of(trials)
        if best is None:
            return ScoreReranker(), trials, Confidence()
        parts = held_out.words(best, base, sentences, jackknife, nbest)
        return rerankers[best], trials, learned_confidence(parts)

    def _features(self):
        return GlobalFeatures(
            self.templates,
            functions=self.functions,
            lexicon=self.lexicon,
            min_count=self.min_count,
        )

    def _word_prefix(self, X, base):
        """Return by which features the words of tokens are found, if by any."""
        numbers = isinstance(X, SequenceBatch) and X.vocabulary is None
        if numbers or _has_columns(X, base) or not len(self.templates):
            return self.word_prefix
        return find_word_prefix(token_rows(X), self.word_prefix)

    @reads_at_once
    def predict_all(self, X: Iterable[Any]) -> Predictions:
        """Return an object that answers any question about X.

        The base tagger is asked once, and its candidates are ranked once.

        Parameters
        ----------
        X : iterable of sequences
            The sequences.

        Returns
        -------
        answers : Predictions
            With sums over the candidates.
        """
        check_is_fitted(self, "reranker_")
        X = reusable_rows(X)
        answers, classes = self.estimator_.predict_all(X), self.classes_.tolist()
        if not self.reranks_:
            return answers

        def ranked():
            lists = self._lists(X, answers)
            return lists, *self.reranker_.ranking(lists)

        below, learned = answers.layer, self.confidence_
        scored = ScoredCandidates(answers.lengths, classes, ranked, below, learned)
        return Predictions(RerankedLayer(scored, classes), X)

    def _lists(self, X, answers):
        """Return the encoded candidates of the base tagger."""
        tokens, words = _read(X, self.estimator_, self.word_prefix_)
        return self.global_features_.transform(
            tokens, answers.nbest(self.n_best), words
        )

    @reads_at_once
    def candidates(self, X: Iterable[Any]) -> Any:
        """Return the encoded candidates of the base tagger, the best of it first.

        Parameters
        ----------
        X : iterable of sequences
            The sequences.

        Returns
        -------
        lists : CandidateLists
            The lists for ``reranker_``, with the labelings.
        """
        check_is_fitted(self, "reranker_")
        X = reusable_rows(X)
        return self._lists(X, self.estimator_.predict_all(X))

    def explain_choice(self, sequence: Iterable[Any]) -> Any:
        """Explain the labels of one sequence against those of the base tagger.

        Parameters
        ----------
        sequence : sequence of tokens
            One sequence, or a ``SequenceBatch`` or ``TokenColumns`` of one.

        Returns
        -------
        choice : Choice
            Both labelings, and the features in which they differ, with the weights
            ``reranker_.coef_``: of a voted perceptron those are averages.
        """
        lists = self.candidates(only_sequence(sequence))
        reranker, best = self.reranker_, int(self.reranker_.predict(lists)[0])
        mine, theirs = (
            set(lists.indices[lists.indptr[c] : lists.indptr[c + 1]].tolist())
            for c in (best, 0)
        )
        gap = float(lists.scores[best] - lists.scores[0])
        return Choice(
            lists.labelings[0][best],
            lists.labelings[0][0],
            gap * reranker.score_coef_,
            self._weighted(mine - theirs),
            self._weighted(theirs - mine),
        )

    def _weighted(self, features):
        """Return the names and weights of features, the strongest first."""
        names, coef = self.global_features_.vocabulary_, self.reranker_.coef_
        found = [(names[k], float(coef[k])) for k in sorted(features)]
        return sorted(found, key=lambda pair: -abs(pair[1]))

    @property
    def confidence_methods_(self):
        """The only method, by its name; all of the base tagger without reranking."""
        if self.reranks_:
            return ServedMethods(METHODS)
        return self.estimator_.confidence_methods_

    @property
    def default_method_(self):
        """The method of ``predict_confidence`` that is used if none is named."""
        return "marginal" if self.reranks_ else self.estimator_.default_method_

    def train_overlap(self, X: Iterable[Any], unit: str = "word") -> float:
        """Return the fraction of the words of X that the base tagger has learned from.

        Parameters
        ----------
        X : iterable of sequences
            The sequences.
        unit : {"word", "sentence"}, default="word"
            What is counted: the words, or the sentences that have any.

        Returns
        -------
        fraction : float
            From 0 to 1; NaN for a tagger that does not remember.
        """
        check_is_fitted(self, "reranker_")
        return self.estimator_.train_overlap(X, unit)

    @property
    def classes_(self):
        """The labels."""
        return self._fitted_base().classes_

    @property
    def constraints_(self):
        """The constraints of the base tagger, if it has any."""
        return getattr(self._fitted_base(), "constraints_", None)

    @property
    def n_iter_(self):
        """The number of passes of the base tagger."""
        return self._fitted_base().n_iter_

    @property
    def history_(self):
        """The passes of the base tagger."""
        return self._fitted_base().history_

    @property
    def vocabulary_(self):
        """The names of the features of the base tagger, if it keeps them."""
        return self._fitted_base().vocabulary_

    @property
    def n_features_in_(self):
        """The number of columns, if sequences were arrays of numbers."""
        return self._fitted_base().n_features_in_

    def _fitted_base(self):
        """Return the tagger that the base is, or that ends it."""
        return _tagger_of(self.estimator_)

    @property
    def reranks_(self):
        """Whether labels are reranked, or left as the base tagger has them."""
        check_is_fitted(self, "reranker_")
        return not isinstance(self.reranker_, ScoreReranker)

    # Saving to files.

    def _plain_params(self):
        if len(self.functions):
            raise ValueError(
                "functions cannot be saved without pickle; pickle the tagger, or do "
                "without features of your own"
            )
        params = {**super()._plain_params(), "estimator": None, "reranker": None}
        if self.lexicon is not None:
            params["lexicon"] = sorted(self.lexicon)
        return {**params, "templates": list(self.templates), "functions": []}

    def _saved_state(self):
        check_is_fitted(self, "reranker_")
        own = self.reranker
        for part in (self.estimator_, self.reranker_, own or self.reranker_):
            if not isinstance(part, SavedModelMixin):
                raise ValueError(
                    f"a {type(part).__name__} cannot be saved without pickle; pickle "
                    "the reranked tagger, or use one of skcw's"
                )
        base, arrays = self.estimator_.to_saved()
        reranker, weights = self.reranker_.to_saved()
        features = self.global_features_
        tables = {
            "global": features.vocabulary_,
            "lexicon": Vocabulary.from_names(sorted(features.lexicon_)),
        }
        for kind, table in tables.items():
            arrays |= {f"{kind}.{key}": array for key, array in table.arrays().items()}
        state = {
            "base": base,
            "reranker": reranker,
            "own_reranker": None if own is None else own._unfitted_header(),
            "word_prefix": self.word_prefix_,
            "confidence": list(self.confidence_),
            "trials": [list(trial) for trial in self.trials_],
        }
        return state, arrays | weights

    def _restore(self, state, arrays):
        self.estimator_ = BaseSequenceTagger.from_saved(state["base"], arrays)
        self.reranker_ = BaseReranker.from_saved(state["reranker"], arrays)
        # Functions are never saved, and templates are known by their names.
        if self.functions or not set(saved_texts(self.templates, "templates")) <= set(
            TEMPLATES
        ):
            raise ValueError("there are templates or functions that do not exist")
        if self.lexicon is not None:
            saved_texts(self.lexicon, "lexicon")
        features = self._features()
        features.vocabulary_ = _named_arrays("global", arrays)
        features.vocabulary_.check(self.reranker_.n_features_in_)
        words = _named_arrays("lexicon", arrays)
        words.check(len(words))
        features.lexicon_ = frozenset(words.names())
        features._validate_params()
        features._hash_names()
        self.global_features_ = features
        prefix = state["word_prefix"]
        if prefix is not None:
            saved_kind(prefix, "word_prefix", str)
        self.word_prefix_ = prefix
        self.trials_ = [Trial.of_saved(*values) for values in state["trials"]]
        # Files of earlier versions have none.
        self.confidence_ = Confidence.of_saved(*state.get("confidence", Confidence()))
        self.estimator = clone(self.estimator_)
        saved_number(self.n_best, "n_best", 1, MOST_IN_A_FILE, whole=True)
        if state["own_reranker"] is not None:
            self.reranker = BaseReranker._from_header(state["own_reranker"])
            self.reranker._validate_params()


def _tagger_of(base):
    return base.tagger if isinstance(base, Pipeline) else base


def _to_fit(estimator, base, X):
    """Return a tagger and what copies of it learn from, encoded once if possible.

    A tagger leaves out features that it has not learned from, whoever has numbered
    them.
    """
    steps = [step for _, step in estimator.steps] if _is_pipeline(estimator) else []
    plain = all(getattr(step, "min_count", 2) == 1 for step in steps)
    kinds = len(steps) == 2 and isinstance(steps[1], OnlineTagger)
    if plain and kinds and type(steps[0]) is WindowFeatures:
        return steps[1], base.encode(X)
    if isinstance(X, SequenceBatch) and X.vocabulary is not None:
        # A copy must not know the names of features in sentences held out.
        X = object_rows(X.to_lists())
    return estimator, X


def _is_pipeline(estimator):
    return isinstance(estimator, Pipeline) and hasattr(estimator, "encode")


def _has_columns(X, base):
    """Tell whether the tokens of sequences are words or begin with them."""
    return isinstance(base, Pipeline) and not isinstance(X, SequenceBatch)


def _read(X, base, prefix):
    """Return the tokens of sequences, and their words."""
    rows = token_rows(X)
    if _has_columns(X, base):
        return rows, first_columns(rows)
    return rows, words_of_features(rows, prefix)


def _named_arrays(kind, arrays):
    """Return the vocabulary that was saved under a name."""
    found = {
        key.removeprefix(f"{kind}."): array
        for key, array in arrays.items()
        if key.startswith(f"{kind}.")
    }
    return Vocabulary.from_arrays(found)
