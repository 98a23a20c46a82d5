"""Where the shipped files are: `data/` and `notebooks/`, in a checkout and in an installed wheel alike.

    >>> data_path("golden", "approval_gate.txt").name
    'approval_gate.txt'

A wheel carries both folders inside the package; a checkout keeps them beside it. Nothing is copied
or extracted: the paths are those of the files themselves, and nobody writes to them.
"""

from pathlib import Path

from harness_kit.errors import InputError, MissingExtraError

_PACKAGE = Path(__file__).resolve().parent


def data_path(*parts: str) -> Path:
    """Return the existing file or folder `data/<parts>`; `InputError` where there is none."""
    return _find(_folder("data"), parts)


def notebooks_path(*parts: str) -> Path:
    """Return the existing file or folder `notebooks/<parts>`; `InputError` where there is none."""
    return _find(_folder("notebooks"), parts)


def _folder(name: str) -> Path:
    inside = _PACKAGE / name
    if inside.is_dir():
        return inside
    beside = _PACKAGE.parent / name
    # Beside an installed package lie other people's packages, so only a checkout counts there.
    if (_PACKAGE.parent / "pyproject.toml").is_file() and beside.is_dir():
        return beside
    raise InputError(
        f"the folder {name!r} is neither in nor beside {str(_PACKAGE)!r}; "
        "the installation is incomplete: install harness-kit again"
    )


def _find(folder: Path, parts: tuple[str, ...]) -> Path:
    path = folder
    for part in parts:
        if part in ("", ".", "..") or any(letter in part for letter in "/\\:\0"):
            raise InputError(f"{part!r} is no single file name; give each part as an argument of its own")
        step = path / part
        if not step.exists():
            there = ", ".join(sorted(item.name for item in path.iterdir())) if path.is_dir() else "no folder"
            whole = "/".join((folder.name, *parts))
            raise InputError(f"{whole!r} is not shipped; {path.name}/ holds: {there}")
        path = step
    return path


def korean_font() -> Path:
    """Return the NanumGothic file that koreanize-matplotlib ships, found without importing that package.

    `MissingExtraError` where the package, or the file in it, is not installed.
    """
    from importlib import metadata  # dear, and needed by pictures alone

    remedy = 'install the extra with: pip install "harness-kit[notebook]"'
    try:
        distribution = metadata.distribution("koreanize-matplotlib")
    except metadata.PackageNotFoundError:
        raise MissingExtraError(f"koreanize-matplotlib (the Korean font) is missing; {remedy}") from None
    for file in distribution.files or ():
        if file.name == "NanumGothic.ttf" and Path(str(file.locate())).is_file():
            return Path(str(file.locate()))
    raise MissingExtraError(f"koreanize-matplotlib {distribution.version} holds no NanumGothic.ttf; {remedy}")
