"""Hash of the source: it changes with every change of a package's code, and with nothing else."""

from pathlib import Path

from lengthgen.infrastructure import digests
from lengthgen.infrastructure.digests import source_digest


def test_the_source_is_that_of_the_project():
    assert Path(__file__).parents[2] / "lengthgen" == digests.HOME
    assert len({source_digest("theory"), source_digest("circuits"), source_digest("no-package")}) == 3


def test_it_changes_with_content_names_and_files_of_the_package_only(tmp_path, monkeypatch):
    monkeypatch.setattr(digests, "HOME", tmp_path)
    package = tmp_path / "package" / "part"
    package.mkdir(parents=True)
    (package / "code.py").write_text("a = 1")
    seen = [source_digest("package")]
    (package / "notes.txt").write_text("no code")
    (tmp_path / "other.py").write_text("not of the package")
    assert source_digest("package") == seen[0]
    (package / "code.py").write_text("a = 2")
    seen.append(source_digest("package"))
    (package / "code.py").rename(package / "renamed.py")
    seen.append(source_digest("package"))
    for data in ("profile.toml", "cells.csv"):
        (package / data).write_text("")
        seen.append(source_digest("package"))
    assert len({*seen}) == 5
