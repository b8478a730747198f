"""The public surface of skcw, found by walking the installed package."""

import importlib
import inspect
import pkgutil

import skcw


def module_names():
    """Yield the dotted name of every module in the package, itself included."""
    yield "skcw"
    for found in pkgutil.walk_packages(skcw.__path__, prefix="skcw."):
        yield found.name


def is_public(dotted):
    return not any(part.startswith("_") for part in dotted.split("."))


def exported(module):
    """Return what a module offers to users: ``__all__``, or nothing.

    A module without ``__all__`` is a part of its room, which exports from it. Errors
    are for users to catch wherever they are defined.
    """
    if module.__name__ == "skcw.exceptions":
        return [name for name, thing in vars(module).items() if inspect.isclass(thing)]
    return [name for name in getattr(module, "__all__", []) if is_public(name)]


def public_objects():
    """Return {qualified name: object} of every public class and function."""
    found = {}
    for name in filter(is_public, module_names()):
        module = importlib.import_module(name)
        for thing in (getattr(module, public) for public in exported(module)):
            if inspect.isclass(thing) or inspect.isroutine(thing):
                found[f"{thing.__module__}.{thing.__qualname__}"] = thing
    return found


def public_methods(cls):
    """Return {name: function} of the public methods that skcw itself defines."""
    found = {}
    for name, _ in inspect.getmembers(cls):
        owner = next((base for base in cls.__mro__ if name in vars(base)), None)
        if name.startswith("_") or not owner or not owner.__module__.startswith("skcw"):
            continue
        method = vars(owner)[name]
        method = getattr(method, "__func__", method)
        if inspect.isfunction(method):
            found[name] = method
    return found
