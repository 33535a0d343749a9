"""Whole models to audit: what an audit knows of one, and those of users, a module that takes token ids or a factory."""

import inspect
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from lengthgen.empirical.audit.subject import AuditError
from lengthgen.infrastructure.userfile import user_code

TOKENS = ("input_ids", "ids", "idx", "tokens", "x", "inputs", "input")
"""Names of the argument for token ids, and of that for positions."""
POSITIONS = ("position_ids", "input_pos", "positions", "pos", "position")
POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


@dataclass(frozen=True, kw_only=True)
class WholeModel:
    """Whole model to audit.

    Attributes:
        build: factory of a fresh instance with the same weights.
        recipe: Python lines that make the instance as `model`, without this package.
        sizes: sizes that were filled in, by field.
        rebuild: function from changed fields of the configuration to a fresh instance, if it has one.
        takes_positions: False if positions are not given, though the model has an argument for them.
        widest: widest dtype in which it works.
        mask_hides: True if a mask is true where tokens are padding.
    """

    name: str
    build: Callable[[], nn.Module]
    recipe: tuple[str, ...] = ()
    config: Any = None
    sizes: dict[str, Any] | None = None
    rebuild: Callable[[dict[str, Any]], nn.Module] | None = None
    takes_positions: bool = True
    widest: torch.dtype = torch.float64
    mask_hides: bool = False


def is_model(module: Any) -> bool:
    """True if an object is a module that takes token ids: by the name of its first argument, or because it does.

    A module that gives rows of one table is none: it may as well take positions.
    """
    if not issubclass(type(module), nn.Module):
        return False
    try:
        with user_code("it is no model", error=AuditError, expected=()), torch.no_grad():
            parameters = list(inspect.signature(module.forward).parameters)
            if "input_ids" in parameters or (parameters and parameters[0] in TOKENS[:4]):
                return True
            tables = [part for part in module.modules() if isinstance(part, nn.Embedding)]
            if len(_required(module.forward, *POSITIONAL)) != 1 or not tables or parameters[0] in POSITIONS:
                return False
            ids = torch.tensor([[0, 1, 0]])
            answer = module(ids)
            is_row = any(isinstance(answer, Tensor) and torch.equal(answer, table(ids)) for table in tables)
            return not is_row and isinstance(answer, Tensor) and answer.ndim == 3 and answer.shape[:2] == (1, 3)
    except AuditError:  # whatever its code raises, it has no signature or takes no token ids
        return False


def _required(function: Callable[..., Any], *kinds: Any) -> list[str]:
    """Names of parameters without a default, of these kinds."""
    parameters = inspect.signature(function).parameters.values()
    return [parameter.name for parameter in parameters if parameter.default is parameter.empty
            and parameter.kind in kinds]  # fmt: skip


def own_model(thing: Any, name: str, source: str = "") -> WholeModel | None:
    """Whole model of a user: a module, or a factory whose arguments all have defaults; None if the object is no model.

    A model that `torch.compile` has wrapped is audited without its compiler, whose calls cannot be read. `source` is a
    Python expression of the object, for reproductions.
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
    return WholeModel(name=name, build=build, recipe=recipe, config=config)


def _needs_arguments(thing: Callable[..., Any]) -> bool:
    try:
        return bool(_required(thing, *POSITIONAL, inspect.Parameter.KEYWORD_ONLY))
    except (TypeError, ValueError):
        return True


def _seeded(make: Callable[[], Any]) -> Any:
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(0)
        return uncompiled(make())


def uncompiled(thing: Any) -> Any:
    """Module within the wrapper of `torch.compile`; any other object as it is."""
    is_wrapper = type(thing).__name__ == "OptimizedModule"  # by name, because its import takes two seconds
    return thing._orig_mod if is_wrapper else thing
