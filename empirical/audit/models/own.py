"""Whole models of users: a module that takes token ids, or a factory of one."""

import inspect
from collections.abc import Callable
from copy import deepcopy
from functools import partial
from typing import Any

import torch
from torch import nn

from lengthgen.empirical.audit.models.runner import Subject, is_model
from lengthgen.empirical.audit.subject import AuditError
from lengthgen.infrastructure.userfile import user_code


def own_model(thing: Any, name: str, source: str = "") -> Subject | None:
    """Subject of a model, or of a factory whose arguments all have defaults; None if the object is no model.

    A model that `torch.compile` has wrapped is audited without its compiler, whose calls cannot be read.

    Args:
        thing: object of the user.
        name: name in reports.
        source: Python expression of the object, for reproductions.
    """
    if issubclass(type(thing), nn.Module):  # an object of the user's may raise where its class is asked for
        if not is_model(uncompiled(thing)):
            return None
        make, made = partial(deepcopy, uncompiled(thing)), source
    else:
        if not callable(thing) or _needs_arguments(thing):
            return None
        try:
            with user_code(f"'{name}' cannot be made", error=AuditError):
                made_once = _seeded(thing)
        except AuditError:  # its audit as an encoding will say why
            return None
        if not is_model(made_once):
            return None
        make, made = partial(_seeded, thing), f"{source}()"
    recipe = (f"import runpy, torch; torch.manual_seed(0); model = {made}; model.eval()",) if source else ()

    def build() -> nn.Module:
        with user_code(f"'{name}' cannot be made", error=AuditError):
            return make()

    model = build()
    try:
        config = getattr(model, "config", None)
        config = config if callable(getattr(config, "to_dict", None)) else None
    except Exception:  # whatever its code raises, it has none
        config = None
    return Subject(name=name, build=build, recipe=recipe, config=config)


def _needs_arguments(thing: Callable[..., Any]) -> bool:
    try:
        parameters = inspect.signature(thing).parameters.values()
    except (TypeError, ValueError):
        return True
    return any(
        parameter.default is parameter.empty and parameter.kind not in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL)
        for parameter in parameters
    )


def _seeded(make: Callable[[], Any]) -> Any:
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(0)
        return uncompiled(make())


def uncompiled(thing: Any) -> Any:
    """Module within the wrapper of `torch.compile`; any other object as it is."""
    is_wrapper = type(thing).__name__ == "OptimizedModule"  # by name, because its import takes two seconds
    return thing._orig_mod if is_wrapper else thing
