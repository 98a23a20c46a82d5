"""What is wrong with this machine: each check says what it found, and its remedy where it fails.

    >>> [check.name for check in checks()][:2]
    ['python', 'package']

Nothing is changed, apart from one empty file that is made and removed at once to try writing.
"""

import importlib.util
import json
import re
import shutil
import sys
import tempfile
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from harness_kit.errors import MissingExtraError
from harness_kit.resources import korean_font

DISTRIBUTION = "harness-kit"
NEEDED = "notebook"
"""The extra that chapters need; the others are reported, and fail only where they are half installed."""
FREE_BYTES = 500_000_000
"""Bytes that an environment with all extras, and a long store, may take beside what is there."""
OLDEST, TOO_NEW = (3, 11), (3, 14)

_REQUIREMENT = re.compile(r"^([A-Za-z0-9._-]+)(?:\[([^\]]*)\])?\s*([^;]*)(?:;\s*(.*))?$")
_EXTRA = re.compile(r"""extra\s*==\s*['"]([\w.-]+)['"]""")


@dataclass(frozen=True, kw_only=True)
class Check:
    """One thing that was looked at."""

    name: str
    """A short code, unique among the checks."""
    ok: bool
    """Whether nothing needs to be done."""
    found: str
    """What is there, in one line."""
    remedy: str = ""
    """What to do, in one line; empty where nothing needs to be done."""


def checks(folder: Path | None = None) -> list[Check]:
    """Look at this Python, its packages and `folder` (the current one unless given), in a fixed order."""
    where = Path.cwd() if folder is None else folder
    return [_python(), _package(), *_extras(), _kernel(), _font(), _widgets(), _writing(where), _disk(where)]


def _python() -> Check:
    ok = OLDEST <= sys.version_info[:2] < TOO_NEW
    remedy = "use Python 3.11, 3.12 or 3.13, and make a new environment with it"
    return _check("python", ok, f"{sys.version.split()[0]} at {sys.executable}", remedy)


def _package() -> Check:
    version = _version(DISTRIBUTION)
    found = f"harness_kit {version}" if version else "harness_kit is not installed, only importable"
    return _check("package", version is not None, found, 'run: pip install -e "." in the checkout')


def _extras() -> list[Check]:
    """One check for each extra: are its packages there, and new enough?"""
    result = []
    for extra, wanted in sorted(_wanted().items()):
        missing, wrong = [], []
        for name, bounds in wanted:
            version = _version(name)
            if version is None:
                missing.append(name)
            elif not fits(version, bounds):
                wrong.append(f"{name} {version} (expected {bounds})")
        unused = len(missing) == len(wanted) and extra != NEEDED
        complaints = [f"missing: {', '.join(missing)}"] if missing else []
        complaints += [f"unfit: {', '.join(wrong)}"] if wrong else []
        found = "not installed; the chapters do without it" if unused else "; ".join(complaints)
        remedy = f'run: pip install --upgrade "{DISTRIBUTION}[{extra}]"'
        ok = unused or not (missing or wrong)
        result.append(_check(f"extra_{extra}", ok, found or f"{len(wanted)} packages", remedy))
    return result


def _wanted() -> dict[str, list[tuple[str, str]]]:
    """Each extra with the names and version bounds that the installed metadata asks for."""
    try:
        lines = metadata.requires(DISTRIBUTION) or []
    except metadata.PackageNotFoundError:
        return {}
    result: dict[str, list[tuple[str, str]]] = {}
    for line in lines:
        name, _, bounds, extra = _parse(line)
        if extra and name != DISTRIBUTION:
            result.setdefault(extra, []).append((name, bounds))
    return result


def _parse(requirement: str) -> tuple[str, str, str, str]:
    """Split `name[extras]bounds; extra == "x"` into its four parts, empty where absent."""
    match = _REQUIREMENT.match(requirement)
    if match is None:
        return requirement, "", "", ""
    extra = _EXTRA.search(match[4] or "")
    return match[1], match[2] or "", match[3].strip().strip("()"), extra[1] if extra else ""


def fits(version: str, bounds: str) -> bool:
    """Whether a release number meets bounds such as `>=3.10,<4` or `~=3.0.17`; other signs are not judged."""
    have = _numbers(version)
    for bound in filter(None, (part.strip() for part in bounds.split(","))):
        match = re.fullmatch(r"(>=|<|==|~=)\s*([\d.]+)", bound)
        if match is None:
            continue
        sign, want = match[1], _numbers(match[2])
        length = max(len(have), len(want))
        left, right = (numbers + (0,) * (length - len(numbers)) for numbers in (have, want))
        met = {
            ">=": left >= right,
            "<": left < right,
            "==": left == right,
            "~=": left >= right and left[: len(want) - 1] == want[:-1],
        }
        if not met[sign]:
            return False
    return True


def _numbers(version: str) -> tuple[int, ...]:
    match = re.match(r"\d+(?:\.\d+)*", version)
    return tuple(int(part) for part in match[0].split(".")) if match else ()


def _kernel() -> Check:
    install = f'run: "{sys.executable}" -m ipykernel install --sys-prefix'
    if importlib.util.find_spec("jupyter_client") is None or importlib.util.find_spec("ipykernel") is None:
        return _check("kernel", False, "no Jupyter kernel is installed", _install(NEEDED))
    from jupyter_client.kernelspec import KernelSpecManager, NoSuchKernel

    try:
        command = KernelSpecManager().get_kernel_spec("python3").argv
    except (NoSuchKernel, OSError, ValueError) as error:
        return _check("kernel", False, f"the kernel python3 cannot be read: {error}", install)
    program = command[0] if command else ""
    # A bare name stands for the Python that Jupyter itself runs on.
    if re.fullmatch(r"python[\d.]*", program) or Path(program) == Path(sys.executable):
        return _check("kernel", True, f"python3 starts {sys.executable}")
    there = "another Python" if shutil.which(program) else "a Python that is not there"
    return _check("kernel", False, f"the kernel python3 starts {there}: {program!r}", install)


def _font() -> Check:
    try:
        return _check("font", True, str(korean_font()))
    except MissingExtraError as error:
        return _check("font", False, str(error), _install(NEEDED))


def _widgets() -> Check:
    """Widgets show nothing where the kernel's half and the browser's half are of different versions."""
    version = _version("ipywidgets")
    if version is None:
        return _check("widgets", False, "ipywidgets is not installed", _install(NEEDED))
    remedy = "run: pip install --force-reinstall ipywidgets jupyterlab_widgets, then reload the page"
    for line in metadata.requires("ipywidgets") or []:
        name, _, bounds, extra = _parse(line)
        if name in ("jupyterlab_widgets", "widgetsnbextension") and not extra:
            have = _version(name)
            if have is None or not fits(have, bounds):
                found = f"ipywidgets {version} needs {name}{bounds}, found {have or 'none'}"
                return _check("widgets", False, found, remedy)
    shipped = Path(sys.prefix, "share/jupyter/labextensions/@jupyter-widgets/jupyterlab-manager/package.json")
    try:
        browser = json.loads(shipped.read_bytes())["version"]
    except (OSError, ValueError, KeyError, TypeError):
        return _check("widgets", False, f"ipywidgets {version}, but JupyterLab has no {shipped}", remedy)
    return _check("widgets", True, f"ipywidgets {version}, JupyterLab side {browser}")


def _writing(folder: Path) -> Check:
    try:
        with tempfile.NamedTemporaryFile(dir=folder, prefix=".harness_kit_doctor_"):
            pass
    except OSError as error:
        remedy = "change to a folder of your own (cd), or give yourself the right to write there"
        return _check("writing", False, f"cannot write in {folder}: {error.strerror or error}", remedy)
    return _check("writing", True, f"can write in {folder}")


def _disk(folder: Path) -> Check:
    try:
        free = shutil.disk_usage(folder).free
    except OSError as error:
        found = f"cannot ask about {folder}: {error.strerror or error}"
        return _check("disk", False, found, "name a folder that exists")
    remedy = f"free {FREE_BYTES // 10**6} MB, or work on another disk"
    return _check("disk", free >= FREE_BYTES, f"{free // 10**6} MB free at {folder}", remedy)


def _check(name: str, ok: bool, found: str, remedy: str = "") -> Check:
    return Check(name=name, ok=ok, found=found, remedy="" if ok else remedy)


def _install(extra: str) -> str:
    return f'run: pip install "{DISTRIBUTION}[{extra}]"'


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None
