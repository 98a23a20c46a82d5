"""The doctor finds what is broken, and every failing check comes with its remedy."""

import json
import shutil
import sys
from collections import namedtuple
from importlib import metadata
from pathlib import Path

import pytest

from harness_kit import doctor
from harness_kit.doctor import Check, checks, fits


def _named(found: list[Check], name: str) -> Check:
    return next(check for check in found if check.name == name)


def test_a_machine_that_runs_these_tests_has_no_complaint_but_perhaps_the_install(tmp_path: Path) -> None:
    found = checks(tmp_path)
    names = [check.name for check in found if not check.name.startswith("extra_")]
    assert names == ["python", "package", "kernel", "font", "widgets", "writing", "disk"]
    assert {check.name for check in found if not check.ok} <= {"package"}
    assert list(tmp_path.iterdir()) == [], "nothing is left behind"


def test_failing_means_having_a_remedy(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def nothing(name: str) -> None:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "version", nothing)
    monkeypatch.setattr(metadata, "distribution", nothing)
    monkeypatch.setattr(doctor.sys, "version_info", (3, 10, 0))
    found = checks(tmp_path / "absent")
    assert {check.name for check in found if not check.ok} >= {
        "python", "package", "font", "widgets", "writing", "disk"
    }  # fmt: skip
    for check in found:
        assert bool(check.remedy) is not check.ok, check
        assert "\n" not in check.found + check.remedy


def _requires(monkeypatch: pytest.MonkeyPatch, versions: dict[str, str]) -> None:
    def version(name: str) -> str:
        if name not in versions:
            raise metadata.PackageNotFoundError(name)
        return versions[name]

    lines = [
        "click>=8.1",
        "harness-kit[sandbox]; extra == 'notebook'",
        "pandas>=2.2; extra == 'notebook'",
        "matplotlib>=3.9; extra == 'notebook'",
        'apscheduler<4,>=3.10; extra == "triggers"',
        'watchfiles>=1.0; extra == "triggers"',
    ]
    monkeypatch.setattr(metadata, "requires", lambda name: lines)
    monkeypatch.setattr(metadata, "version", version)


def test_an_extra_that_is_not_used_is_no_complaint_but_the_notebooks_are_needed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    _requires(monkeypatch, {})
    found = checks()
    assert _named(found, "extra_triggers").ok
    notebook = _named(found, "extra_notebook")
    assert not notebook.ok
    assert notebook.found == "missing: pandas, matplotlib"
    assert notebook.remedy == 'run: pip install --upgrade "harness-kit[notebook]"'


def test_half_an_extra_and_an_old_version_are_complaints(monkeypatch: pytest.MonkeyPatch) -> None:
    _requires(monkeypatch, {"pandas": "1.5.3", "matplotlib": "3.9.0", "apscheduler": "4.0.0a5"})
    found = checks()
    assert _named(found, "extra_notebook").found == "unfit: pandas 1.5.3 (expected >=2.2)"
    assert (
        _named(found, "extra_triggers").found
        == "missing: watchfiles; unfit: apscheduler 4.0.0a5 (expected <4,>=3.10)"
    )


@pytest.mark.parametrize(
    ("version", "bounds", "ok"),
    [
        ("3.10", ">=3.9", True),
        ("3.9", ">=3.10", False),
        ("3.9.0", "==3.9", True),
        ("0.11.1", "==0.11.0", False),
        ("4.0", ">=3.10,<4", False),
        ("3.0.20", "~=3.0.17", True),
        ("3.1.0", "~=3.0.17", False),
        ("3.0.16", "~=3.0.17", False),
        ("1.0", "", True),
    ],
)
def test_versions_are_compared_by_number(version: str, bounds: str, ok: bool) -> None:
    assert fits(version, bounds) is ok


def test_a_kernel_of_another_python_is_found(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    kernel = tmp_path / "kernels" / "python3"
    kernel.mkdir(parents=True)
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path))
    for program, words in [(str(tmp_path / "gone"), "not there"), (shutil.which("sh"), "another Python")]:
        spec = {"argv": [program, "-m", "ipykernel_launcher"], "display_name": "x", "language": "python"}
        (kernel / "kernel.json").write_text(json.dumps(spec), encoding="utf-8")
        check = _named(checks(), "kernel")
        assert not check.ok
        assert words in check.found
        assert check.remedy == f'run: "{sys.executable}" -m ipykernel install --sys-prefix'


def test_a_browser_half_of_another_version_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    real = metadata.version
    old = {"jupyterlab_widgets": "1.0.0"}
    monkeypatch.setattr(metadata, "version", lambda name: old.get(name) or real(name))
    check = _named(checks(), "widgets")
    assert not check.ok
    assert "found 1.0.0" in check.found


def test_a_full_disk_is_found(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage(1, 1, 499_999_999))
    assert _named(checks(tmp_path), "disk").remedy == "free 500 MB, or work on another disk"
