"""Optional dependencies: found, or an error that names the extra. Row 0."""

import importlib
from typing import Any

from harness_kit.errors import MissingExtraError


def need(module: str, extra: str) -> Any:
    """Import and return `module`; `MissingExtraError` says which extra brings it."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or not module.startswith(error.name):
            raise
        raise MissingExtraError(
            f"{module!r} is not installed; it comes with an extra: pip install 'harness-kit[{extra}]'"
        ) from error
