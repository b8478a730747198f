"""Several kinds of features of the same tokens, as a transformer of scikit-learn."""

from collections.abc import Callable, Sequence
from numbers import Integral, Real
from typing import Any, Self

from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted

from skcw._util.compat import Interval, _BaseComposition, _fit_context
from skcw.data.vocabulary import Vocabulary
from skcw.features.extractor import opened_params, saved_features
from skcw.features.joining import (
    FunctionPart,
    JoinedExtractor,
    VectorPart,
    kept,
    name_of,
    opened_extractor,
    part_prefix,
)
from skcw.features.resources import WordVectors
from skcw.features.window_features import ExtractedFeatures, WindowFeatures


class FunctionFeatures(BaseEstimator):
    """Features that a Python function of your own gives each token.

    A part of :class:`JoinedFeatures`, where a plain function stands for
    ``FunctionFeatures(function)``.

    Parameters
    ----------
    function : callable
        ``function(tokens, i)`` returns the features of token i: a string, a list of
        strings, a dict as taggers take it, or None. The tokens are those of a sequence
        as ``fit`` has got them: words, tuples or dicts.
    whole_sequence : bool, default=False
        Call ``function(tokens)`` instead, once per sequence. It returns a list of the
        above with one entry for each token.

    See Also
    --------
    VectorFeatures : Dense vectors, brought to scale.

    Examples
    --------
    >>> from skcw.features import FunctionFeatures, JoinedFeatures
    >>> def ends(tokens):
    ...     return [[] for _ in tokens[1:]] + [{"end": tokens[-1]}]
    >>> features = JoinedFeatures(
    ...     [("words", ["word"]), ("ends", FunctionFeatures(ends, whole_sequence=True))]
    ... )
    >>> features.fit_transform([["Ann", "left"]]).to_lists()
    [[['word[0]=Ann'], ['word[0]=left', 'ends:end:left']]]
    """

    def __init__(
        self, function: Callable[..., Any], whole_sequence: bool = False
    ) -> None:
        self.function = function
        self.whole_sequence = whole_sequence

    def _started(self, name):
        if not callable(self.function):
            raise TypeError(
                f"features {name!r}: {self.function!r} is not a function of (tokens, i)"
            )
        return FunctionPart(name, self.function, self.whole_sequence)


class VectorFeatures(BaseEstimator):
    """Dense vectors of tokens: word vectors, or embeddings of any encoder.

    A part of :class:`JoinedFeatures`. Each dimension is a feature with a value. All
    vectors are multiplied by one number, which gives those of the training tokens the
    root mean square length `norm`: a feature that is on or off has the length 1.

    Parameters
    ----------
    source : WordVectors, str, int or callable
        Where the vectors come from: a table of words; the key of a token that is a
        dict, or the number of the column of one that is a tuple, which holds its
        vector; or a function of the tokens of a sequence that returns one row per
        token.
    offsets : tuple of int, default=(0,)
        Whose vectors a token has: its own is at 0, that of the token before at -1.
    norm : float, default=1.0
        The length of a typical vector among the other features.

    See Also
    --------
    WordVectors.read : Word vectors of a file.

    Examples
    --------
    >>> import numpy as np
    >>> from skcw.features import JoinedFeatures, VectorFeatures
    >>> sequence = [
    ...     {"word": "Ann", "vector": np.array([3.0, 4.0])},
    ...     {"word": "left", "vector": np.array([0.0, 5.0])},
    ... ]
    >>> features = JoinedFeatures(
    ...     [("words", ["word"]), ("vector", VectorFeatures("vector"))]
    ... )
    >>> features.fit_transform([sequence]).values.round(2)
    array([1. , 0.6, 0.8, 1. , 1. ])
    """

    _parameter_constraints: dict = {
        "source": [WordVectors, str, Integral, callable],
        "norm": [Interval(Real, 0, None, closed="neither")],
    }

    def __init__(
        self, source: Any, *, offsets: Sequence[Any] = (0,), norm: float = 1.0
    ) -> None:
        self.source = source
        self.offsets = offsets
        self.norm = norm

    def _started(self, name):
        self._validate_params()
        offsets = tuple(self.offsets)
        if not offsets or not all(isinstance(o, Integral) for o in offsets):
            raise ValueError(
                f"features {name!r}: offsets must be integers such as (-1, 0, 1), got "
                f"{self.offsets!r}"
            )
        return VectorPart(name, self.source, tuple(map(int, offsets)), self.norm)


class JoinedFeatures(ExtractedFeatures, _BaseComposition, auto_wrap_output_keys=None):
    """Join features of several kinds: each token has those of all parts.

    The counterpart of :class:`sklearn.pipeline.FeatureUnion` for sequences.

    Parameters
    ----------
    parts : list of (str, part)
        A name and a :class:`WindowFeatures` (or a ready set, or a list of lines),
        :class:`FunctionFeatures` (or a function of tokens and a position) or
        :class:`VectorFeatures` (or :class:`WordVectors`) each. The names of features
        that functions and vectors make begin with the name of their part.

    Attributes
    ----------
    vocabulary_ : Vocabulary
        The names of all features.
    n_features_out_ : int
        The number of features.
    parts_ : dict of str to object
        The fitted parts.
    extractor_ : JoinedExtractor
        Makes the features, without scikit-learn.

    See Also
    --------
    join_features : Makes one with fewer words.
    skcw.make_tagging_pipeline : Takes a list of parts, too.

    Examples
    --------
    >>> from skcw.features import JoinedFeatures
    >>> def double(tokens, i):
    ...     return [c for c, d in zip(tokens[i], tokens[i][1:]) if c == d]
    >>> features = JoinedFeatures([("window", ["word", "length"]), ("double", double)])
    >>> features.fit_transform([["Anne", "met", "Billy"]]).to_lists()[0][0]
    ['word[0]=Anne', 'length[0]=4', 'double:n']
    """

    # Parts have their own; fit checks each.
    _parameter_constraints: dict = {}

    def __init__(self, parts: list[Any]) -> None:
        self.parts = parts

    def get_params(self, deep: bool = True) -> dict[Any, Any]:
        """Return the parameters, with those of the parts.

        Parameters
        ----------
        deep : bool, default=True
            Whether to include the parts by name, and their parameters.

        Returns
        -------
        params : dict
            Values by name.
        """
        return self._get_params("parts", deep=deep)

    def set_params(self, **params: Any) -> Self:
        """Set parameters, also those of parts: ``vectors__norm=2``.

        Parameters
        ----------
        **params : dict
            Values by name.

        Returns
        -------
        self : JoinedFeatures
            The transformer.
        """
        self._set_params("parts", **params)
        return self

    @_fit_context(prefer_skip_nested_validation=True)
    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Learn the features of all parts and return those of the sequences.

        Parameters
        ----------
        X : TokenColumns, or iterable of sequences
            The sequences.
        y : None
            Ignored.

        Returns
        -------
        batch : SequenceBatch
            The features of every token.
        """
        X = kept(X)
        parts = {name: _started(name, p, X) for name, p in checked_parts(self.parts)}
        batch = _extractor(parts, Vocabulary.empty()).learn(X)
        self.parts_ = parts
        self._keep_names(batch)
        return batch

    @_fit_context(prefer_skip_nested_validation=True)
    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Learn further features; those known keep their numbers.

        Parameters
        ----------
        X : TokenColumns, or iterable of sequences
            Further sequences.
        y : None
            Ignored.

        Returns
        -------
        self : JoinedFeatures
            The transformer.
        """
        if not hasattr(self, "parts_"):
            return self.fit(X)
        self._keep_names(self.extractor_.learn(X))
        return self

    @property
    def extractor_(self):
        """The extractor of the features, without scikit-learn."""
        return _extractor(self.parts_, self.vocabulary_)

    @property
    def templates_(self):
        """The templates of all parts."""
        return self.extractor_.templates

    def to_saved(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return fitted features as plain values and named arrays."""
        check_is_fitted(self)
        states, arrays = [], self.vocabulary_.arrays()
        for name, part in self.parts_.items():
            state, more = _saved_part(name, part)
            states.append({"name": name, **state})
            arrays |= more
        return {"parts": states}, arrays

    @classmethod
    def from_saved(cls, state: dict[Any, Any], arrays: dict[Any, Any]) -> Any:
        """Return the features that `to_saved` described.

        Parameters
        ----------
        state : dict
            Their plain values.
        arrays : dict of str to ndarray
            Their arrays, perhaps among others.

        Returns
        -------
        features : transformer
            The fitted features.
        """
        extractor = opened_extractor(state, arrays)
        parts, fitted = [], {}
        for saved in state["parts"]:
            name = saved["name"]
            part, fitted[name] = _opened_part(saved, arrays, extractor.parts[name])
            parts.append((name, part))
        features = cls(parts)
        features.parts_ = fitted
        features.vocabulary_ = extractor.vocabulary
        features.n_features_out_ = len(extractor.vocabulary)
        return features


def checked_parts(parts):
    """Return the names and parts of joined features; raise unless they are such."""
    try:
        parts = [(name, part) for name, part in parts]
    except (TypeError, ValueError):
        raise TypeError(
            "parts must be a list of (name, part); join_features(*parts) finds names"
        ) from None
    names = [name for name, _ in parts]
    if not parts or not all(isinstance(name, str) and name for name in names):
        raise ValueError(f"parts must have names, got {names}")
    if len(set(names)) < len(names) or any("__" in name for name in names):
        raise ValueError(f"the names of parts must differ, and have no __: {names}")
    return [(name, _as_part(name, part)) for name, part in parts]


def _as_part(name, part):
    """Return the estimator that a part stands for."""
    if isinstance(part, (WindowFeatures, FunctionFeatures, VectorFeatures)):
        return part
    if isinstance(part, WordVectors):
        return VectorFeatures(part)
    if isinstance(part, (str, list)):
        return WindowFeatures(part)
    if isinstance(part, Callable):
        return FunctionFeatures(part)
    raise TypeError(
        f"features {name!r}: {part!r} is neither a ready set, a list of lines, a "
        "function, WindowFeatures, FunctionFeatures nor VectorFeatures"
    )


def _started(name, part, X):
    """Return the extractor or transformer that learns the features of a part."""
    if not isinstance(part, WindowFeatures):
        return part._started(name)
    if part.n_features is not None:
        raise ValueError(
            f"features {name!r}: hashing by n_features cannot be joined with others; "
            "use min_count to have fewer features"
        )
    window = clone(part)
    _, extractor = window._prepared(X)
    window.columns_, window.templates_ = extractor.columns, extractor.templates
    return window


def _extractor(parts, vocabulary):
    """Return the extractor of fitted parts; only numbers and texts of it are kept."""
    made, min_counts = {}, {}
    for name, part in parts.items():
        if isinstance(part, WindowFeatures):
            min_counts[name] = part.min_count
            part = part._extractor(part.columns_, part.templates_, vocabulary)
        made[name] = part
    return JoinedExtractor(made, vocabulary, min_counts)


def _saved_part(name, part):
    if isinstance(part, WindowFeatures):
        params = part.get_params(deep=False)
        state, arrays = saved_features(params, part.columns_, part_prefix(name))
        return {"kind": "window", **state}, arrays
    code = part.function if isinstance(part, FunctionPart) else part.source
    if isinstance(code, Callable):
        raise ValueError(
            f"the features {name!r} come from the function {name_of(code)}, which is "
            "code, and a model file holds data alone. Either express it by lines, "
            "lexicons, clusters or word vectors; or save the tagger by itself "
            "(pipeline.tagger.save) and make the features before prediction; or use "
            "joblib.dump, for readers who have the function and trust the file"
        )
    names = ("offsets", "norm", "scale", "n_dimensions")
    state = {"kind": "vectors", **{key: getattr(part, key) for key in names}}
    if isinstance(part.source, WordVectors):
        return {**state, "source": None}, part.source.arrays(
            part_prefix(name) + "words"
        )
    return {**state, "source": part.source}, {}


def _opened_part(state, arrays, extractor):
    """Return a part as the user gave it, and as it is fitted."""
    if state["kind"] == "vectors":
        offsets, norm = tuple(state["offsets"]), state["norm"]
        given = VectorFeatures(extractor.source, offsets=offsets, norm=norm)
        return given, extractor
    params = opened_params(state, arrays, part_prefix(state["name"]))
    window = WindowFeatures(**params)
    window.columns_, window.templates_ = extractor.columns, extractor.templates
    return WindowFeatures(**params), window


def join_features(*parts):
    """Return joined features, with names for their parts.

    Parameters
    ----------
    *parts : part
        The parts that :class:`JoinedFeatures` takes, without names.

    Returns
    -------
    features : JoinedFeatures
        Functions have their own names; lines and ready sets are called ``window``,
        vectors ``vectors``. Of several with the same name, the second is ``name2``.

    Examples
    --------
    >>> from skcw.features.joined_features import join_features
    >>> def double(tokens, i):
    ...     return [c for c, d in zip(tokens[i], tokens[i][1:]) if c == d]
    >>> [name for name, _ in join_features("ner", double, ["length"]).parts]
    ['window', 'double', 'window2']
    """
    named, seen = [], {}
    for part in parts:
        name = _usual_name(part)
        seen[name] = seen.get(name, 0) + 1
        named.append((name if seen[name] == 1 else f"{name}{seen[name]}", part))
    return JoinedFeatures(named)


def _usual_name(part):
    if isinstance(part, (str, list, WindowFeatures)):
        return "window"
    if isinstance(part, (WordVectors, VectorFeatures)):
        return "vectors"
    function = getattr(part, "function", part)
    name = getattr(function, "__name__", type(function).__name__)
    return name if name.isidentifier() and "__" not in name else "function"


def is_joined(features):
    """Return whether a list of features holds more than lines and templates.

    Parameters
    ----------
    features : object
        The features as they were given.

    Returns
    -------
    joined : bool
        Whether :class:`JoinedFeatures` should read it.
    """
    if isinstance(features, (WordVectors, FunctionFeatures, VectorFeatures)):
        return True
    if isinstance(features, (list, tuple)):
        # A template of CRFsuite's scripts is a tuple of tuples.
        return any(not isinstance(part, (str, tuple)) for part in features)
    return callable(features)
