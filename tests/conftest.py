"""Settings for all tests."""

import os

from hypothesis import settings

# The same examples every time in CI, and no deadline: how fast a test is says nothing about being right.
settings.register_profile("local", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "local")
