"""A pause of the cycle collector while many records are made that hold no cycles.

Each full collection walks over every record that is alive, so a journal of a hundred thousand rows would be
walked again and again while it grows, and a row of a large journal would cost twice that of a small one.
"""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def quiet() -> Iterator[None]:
    """Pause the collector, also as a decorator; it goes on afterwards if it was on before.

    Of several threads inside, the first one to come turns it on again: then the others lose time, not safety.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
