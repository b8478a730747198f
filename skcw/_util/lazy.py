"""Lazy imports: public names whose modules are imported on first use.

A saved model tags with NumPy alone. So a package that offers both
estimators and parts of that runtime must not import scikit-learn for the latter.
"""

import sys
from importlib import import_module


def lazy_names(package, homes):
    """Return ``__getattr__`` and ``__dir__`` of a package that imports late.

    Parameters
    ----------
    package : str
        The name of the package, which has an ``__all__``.
    homes : dict of str to str
        The module that each name is imported from.

    Returns
    -------
    getattr : callable
        Called for a name that the package does not have yet.
    dir : callable
        Lists the names, imported or not, so that editors complete them.

    Examples
    --------
    >>> from skcw._util.lazy import lazy_names
    >>> homes = {"Vocabulary": "skcw.data.vocabulary"}
    >>> __getattr__, _ = lazy_names("skcw.data", homes)
    >>> __getattr__("Vocabulary")
    <class 'skcw.data.vocabulary.Vocabulary'>
    """
    module = sys.modules[package]

    def __getattr__(name):
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        found = getattr(import_module(homes[name]), name)
        setattr(module, name, found)
        return found

    def __dir__():
        return sorted({*vars(module), *module.__all__})

    return __getattr__, __dir__
