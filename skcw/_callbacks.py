"""Report training passes to the callbacks of scikit-learn (1.9 and later)."""


class PassTasks:
    """Tell the callbacks of an estimator when a pass begins and ends.

    ``ProgressBar`` then shows the passes, ``ScoringMonitor`` scores each of them, and
    a callback may stop the training.

    Parameters
    ----------
    estimator : object
        The estimator in ``fit``.
    X, y : sequences
        The training data.
    n_tasks : int
        The maximum number of passes.
    fitted : callable
        Turns a belief into the attributes of a fitted estimator.
    """

    def __init__(self, estimator, X, y, n_tasks, fitted):
        self.root = None
        self.fitted = fitted
        self.about = {"estimator": estimator, "X": X, "y": y}
        if hasattr(estimator, "_init_callback_context"):
            self.root = estimator._init_callback_context(max_subtasks=n_tasks)
            self.root.call_on_fit_task_begin(**self.about)

    def begin(self, name):
        """Begin a pass."""
        if self.root is not None:
            self.task = self.root.subcontext(task_name=name)
            self.task.call_on_fit_task_begin(**self.about)

    def end(self, belief):
        """End a pass; ``belief()`` gives its result. Return whether to stop."""
        return self.root is not None and self.task.call_on_fit_task_end(
            **self.about, reconstruction_attributes=lambda: self.fitted(belief())
        )

    def finish(self, belief):
        """End the training."""
        if self.root is not None:
            self.root.call_on_fit_task_end(
                **self.about, reconstruction_attributes=lambda: self.fitted(belief)
            )
