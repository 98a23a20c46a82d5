"""Shipped files are found where they really lie, in a checkout and in an installed package."""

import importlib.util
import shutil
from importlib import metadata
from pathlib import Path
from types import ModuleType

import pytest

from harness_kit import resources
from harness_kit.errors import InputError, MissingExtraError


def _copy_of_module(package: Path) -> ModuleType:
    """Load `resources` as if the package lay at `package`."""
    package.mkdir(parents=True)
    target = package / "resources.py"
    shutil.copyfile(Path(resources.__file__), target)
    spec = importlib.util.spec_from_file_location("resources_elsewhere", target)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_checkout_keeps_data_beside_the_package() -> None:
    root = Path(__file__).resolve().parent.parent
    assert resources.data_path() == root / "data"
    assert resources.notebooks_path() == root / "notebooks"


def test_an_installed_package_carries_data_inside(tmp_path: Path) -> None:
    module = _copy_of_module(tmp_path / "site-packages" / "harness_kit")
    (tmp_path / "site-packages" / "data").mkdir()
    with pytest.raises(InputError, match="install harness-kit again"):
        module.data_path()
    inside = tmp_path / "site-packages" / "harness_kit" / "data"
    inside.mkdir()
    (inside / "a.txt").write_text("a", encoding="utf-8")
    assert module.data_path("a.txt") == inside / "a.txt"


def test_an_unknown_file_is_named_with_its_neighbours(tmp_path: Path) -> None:
    module = _copy_of_module(tmp_path / "한글 폴더" / "harness_kit")
    data = tmp_path / "한글 폴더" / "harness_kit" / "data"
    (data / "golden").mkdir(parents=True)
    (data / "golden" / "one.txt").touch()
    with pytest.raises(InputError, match=r"'data/golden/two\.txt' is not shipped; golden/ holds: one\.txt"):
        module.data_path("golden", "two.txt")


@pytest.mark.parametrize("part", ["..", ".", "", "a/b", "a\\b", "C:", "a\0b"])
def test_a_part_is_one_file_name(part: str) -> None:
    with pytest.raises(InputError, match="no single file name"):
        resources.data_path(part)


def test_the_korean_font_is_a_true_type_file() -> None:
    pytest.importorskip("matplotlib")
    font = resources.korean_font()
    assert font.name == "NanumGothic.ttf"
    assert font.read_bytes()[:4] == b"\x00\x01\x00\x00"


def test_a_missing_font_package_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "distribution", missing)
    with pytest.raises(MissingExtraError, match=r'pip install "harness-kit\[notebook\]"'):
        resources.korean_font()
