"""Kinds of applications, one file each: every module beside this one that has an `ARCHETYPE` is one."""

import importlib
import pkgutil
from pathlib import Path
from typing import Final

from iomine.simulate.archetypes.model import Archetype, Parameters, Truth

__all__ = ["ARCHETYPES", "Archetype", "Parameters", "Truth"]


def _found() -> dict[str, Archetype]:
    modules = (importlib.import_module(f"{__name__}.{info.name}") for info in pkgutil.iter_modules([str(Path(__file__).parent)]))
    return {module.__name__.rpartition(".")[2]: module.ARCHETYPE for module in modules if hasattr(module, "ARCHETYPE")}


ARCHETYPES: Final = _found()
