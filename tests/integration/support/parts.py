"""Parts of large packages without the rest: what a part imports at its top and never calls is answered by placeholders."""

import importlib.abc
import importlib.machinery
import sys
import types


class Named(type):
    """A class of any name with any attribute, so that it can stand in annotations, bases and decorators."""

    def __getattr__(cls, name):
        return placeholder(name)

    def __or__(cls, other):
        return cls

    __ror__ = __or__


def placeholder(name):
    if name.startswith("__"):
        raise AttributeError(name)
    # An exception, for what is caught may be named; as a decorator it gives back what it is put on.
    body = {"__init__": lambda self, *args, **kwargs: None, "__call__": lambda self, *args, **kwargs: args[0]}
    return Named(name, (Exception,), body)


class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def __init__(self, packages, absent):
        self.packages = packages
        self.absent = absent

    def find_spec(self, name, path=None, target=None):
        if name in self.packages:
            found = importlib.machinery.PathFinder.find_spec(name, path)
            if found is None:
                return None
            spec = importlib.machinery.ModuleSpec(name, self, is_package=True)
            spec.submodule_search_locations = found.submodule_search_locations
            return spec
        if any(name == absent or name.startswith(absent + ".") for absent in self.absent):
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
        return None

    def create_module(self, spec):
        module = types.ModuleType(spec.name)
        if spec.name not in self.packages:
            module.__getattr__ = placeholder
        return module

    def exec_module(self, module):
        vars(module).update(self.packages.get(module.__name__, {}))


def use_parts(packages, absent):
    """
    `packages`: loaded without their `__init__.py`, and what they are said to hold of it. `absent`: modules, with all under
    them, that are placeholders, whether they are installed or not.
    """
    sys.meta_path.insert(0, Finder(packages, absent))
