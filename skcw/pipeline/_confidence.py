"""The confidence of a pipeline is that of its tagger."""

from sklearn.utils.metaestimators import available_if

from skcw.pipeline._available import tagger_has


class PassedConfidence:
    """Encode once and ask the tagger how sure it is."""

    def predict_confidence(self, X, method=None, **options):
        """Return how sure the tagger is of each predicted label.

        Parameters
        ----------
        X : sequences
            The sequences.
        method : str, default=None
            A method of the tagger; None is its own default.
        **options : float or int
            Those of the tagger's ``predict_confidence``.

        Returns
        -------
        confidence : ndarray of shape (n_sequences,), dtype object
            A float array per sequence.
        """
        return self.tagger.predict_confidence(self.encode(X), method=method, **options)

    @available_if(tagger_has("label_confidence"))
    def label_confidence(self, X, y, method=None, **options):
        """Return how sure the tagger is of given labels.

        Parameters
        ----------
        X : sequences
            The sequences, as for ``fit``.
        y : sequences of str
            The labels to judge.
        method : str, default=None
            The tagger's method.
        **options : float or int
            Those of the tagger's ``label_confidence``.

        Returns
        -------
        confidence : ndarray of shape (n_sequences,), dtype object
            A float array per sequence.
        """
        return self.tagger.label_confidence(self.encode(X), y, method=method, **options)

    @available_if(tagger_has("predict_sequence_confidence"))
    def predict_sequence_confidence(self, X, method=None, **options):
        """Return how sure the tagger is that a whole labeling is right.

        Parameters
        ----------
        X : sequences
            The sequences.
        method : str, default=None
            A method of the tagger; None is its own default.
        **options : float or int
            Those of the tagger's ``predict_confidence``.

        Returns
        -------
        confidence : ndarray of float64, shape (n_sequences,)
            One number per sequence; 1 for an empty one.
        """
        return self.tagger.predict_sequence_confidence(
            self.encode(X), method=method, **options
        )

    @available_if(tagger_has("predict_voted"))
    def predict_voted(self, X, fixed=None, **options):
        """Return the label that most drawn models give each word.

        Parameters
        ----------
        X : sequences
            The sequences.
        fixed : bool, default=None
            Whether all weights are drawn with one variance; by default where the tagger
            keeps none.
        **options : float or int
            Those of the tagger's ``predict_voted``.

        Returns
        -------
        labels : ndarray of shape (n_sequences,), dtype object
            A list of labels per sequence.
        """
        return self.tagger.predict_voted(self.encode(X), fixed=fixed, **options)

    @available_if(tagger_has("sample_labelings"))
    def sample_labelings(self, X, n, fixed=None, **options):
        """Return labelings drawn from what the tagger believes.

        Parameters
        ----------
        X : sequences
            The sequences.
        n : int
            How many labelings of every sequence.
        fixed : bool, default=None
            Whether all weights are drawn with one variance; by default where the tagger
            keeps none and its model is no probability.
        **options : float or int
            Those of the tagger's ``sample_labelings``.

        Returns
        -------
        labelings : ndarray of shape (n_sequences,), dtype object
            A list of n labelings per sequence, each a list of labels.
        """
        return self.tagger.sample_labelings(self.encode(X), n, fixed=fixed, **options)

    def predict_entities(self, X, definition=None, method=None, **options):
        """Return the entities that the predicted labels mark.

        Parameters
        ----------
        X : sequences
            The sequences.
        definition : str, default=None
            What the confidence of an entity is about; None is the tagger's default.
        method : str, default=None
            A method of the tagger; None is its own default.
        **options : float or int
            Those of the tagger's ``predict_confidence``.

        Returns
        -------
        entities : ndarray of shape (n_sequences,), dtype object
            A list of ``(label, start, end, confidence)`` per sequence.
        """
        chosen = {"definition": definition, "method": method}
        options |= {name: value for name, value in chosen.items() if value is not None}
        return self.tagger.predict_entities(self.encode(X), **options)

    @available_if(tagger_has("fit_confidence"))
    def fit_confidence(self, X, y, method=None, **options):
        """Choose the scale, temperature or K of a confidence method of the tagger.

        Parameters
        ----------
        X : sequences
            Labelled sequences that the pipeline has not learnt from; or, with ``cv``,
            those it has learnt from.
        y : sequences of str
            Their labels.
        method : str, default=None
            The method of ``predict_confidence`` to tune.
        **options : object
            Those of the tagger's ``fit_confidence``: ``metric``, ``cv``, ``n_values``,
            ``n_draws`` and ``random_state``.

        Returns
        -------
        self : TaggingPipeline
            The pipeline; features and weights stay as they are.
        """
        self.tagger.fit_confidence(self.encode(X), y, method, **options)
        return self
