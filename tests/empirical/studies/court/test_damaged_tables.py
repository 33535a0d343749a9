"""Damaged tables of published results: each ends with one line that says what and where."""

import shutil
from pathlib import Path

import pytest

from lengthgen.empirical.studies.court.published import load
from lengthgen.empirical.studies.court.published.load import PublishedError, load_tables, published_cells, read_sources

FOLDER = Path(load.__file__).parent
HUANG, MATH, LENGTHS, MODELS = (
    f"{name}.csv" for name in ("huang2025", "kazemnejad2023_math", "kazemnejad2023_lengths", "decompiling2026")
)
DAMAGES = {
    "a column that is missing": (HUANG, "bin0,bin1,bin2", "bin0,bin1", "huang2025.csv, line 2: more entries than"),
    "a column of another name": (HUANG, "bin2", "bin3", "huang2025.csv, line 2: column 'bin2' is missing"),
    "a row that is too short": (HUANG, ",96.8,84.7", ",96.8", "huang2025.csv, line 4: column 'bin2' is missing"),
    "more than all": (HUANG, "100.0,96.8", "100.5,96.8", "bin0 = '100.5' is no number from 0 to 100"),
    "less than nothing": (MATH, "NoPE,9,0.825", "NoPE,9,-0.1", "10: accuracy = '-0.1' is no number from 0 to 1"),
    "percent in place of a share": (LENGTHS, ",9,0.4963", ",9,49.63", "= '49.63' is no number from 0 to 1"),
    "not a number": (MODELS, "0.4995", "nan", "decompiling2026.csv, line 2: b0 = 'nan' is no number from 0 to 1"),
    "no share": (MODELS, "0.4995", "", "decompiling2026.csv, line 2: b0 = '' is no number from 0 to 1"),
    "no length": (MATH, "NoPE,9,0.825", "NoPE,0,0.825", "2023_math.csv, line 10: length = '0' is no length"),
    "a length twice": (MATH, "NoPE,9,0.825", "NoPE,8,0.825", "of addition-steps with nope has length 8 twice"),
    "an unknown task": (HUANG, "tomita4,Star Free,nope", "tomita44,Star Free,nope", "unknown task 'tomita44': did"),
    "an unknown encoding": (HUANG, "tomita4,Star Free,nope", "tomita4,Star Free,nop", "'nop' of 'mean of nop': did"),
    "an unknown mark": (MODELS, "addition-@", "addition-&", "unknown encoding '&' of 'addition-&4l2h64d3lr00drop'"),
    "a source without a key": ("sources.toml", "authors =", "author =", "unknown key 'author': did you mean"),
    "a source that is no TOML": ("sources.toml", "[huang2025]", "[huang2025", "is not TOML"),
    "a source of no table": ("sources.toml", "[huang2025", "[huang2024", "unknown table 'huang2024': did you"),
    "a length in words": ("sources.toml", 'scan-len = 25', 'scan-len = "many"', "is not int"),
    "training on all lengths": ("sources.toml", "train = 50", "train = 150", "at no length above 150"),
}  # fmt: skip


@pytest.fixture
def folder(tmp_path):
    """A copy of the folder of the tables."""
    for file in [*FOLDER.glob("*.csv"), FOLDER / "sources.toml"]:
        shutil.copy(file, tmp_path)
    return tmp_path


def test_a_sound_copy_gives_the_same_cells(folder):
    assert load_tables(folder)[0] == published_cells()


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_table_is_refused_in_one_line(folder, damage):
    name, before, after, says = DAMAGES[damage]
    path = folder / name
    content = path.read_text(encoding="utf-8")
    assert before in content
    path.write_text(content.replace(before, after), encoding="utf-8")
    with pytest.raises(PublishedError) as refused:
        load_tables(folder)
    assert says in str(refused.value)
    assert str(refused.value).isprintable()


@pytest.mark.parametrize("name", [HUANG, "sources.toml"])
def test_a_file_that_cannot_be_read_is_named(folder, name):
    (folder / name).unlink()
    with pytest.raises(PublishedError, match=name):
        load_tables(folder)
    (folder / name).write_bytes(b"\xff\xfe")
    with pytest.raises(PublishedError, match=name):
        load_tables(folder)


def test_predictions_that_are_neither_true_nor_false_are_refused(folder, monkeypatch):
    path = folder / HUANG
    path.write_text(path.read_text(encoding="utf-8").replace("ape,True,100.0,96.8", "ape,yes,100.0,96.8"), "utf-8")
    monkeypatch.setattr(load, "FOLDER", folder)
    load.huang_predictions.cache_clear()
    with pytest.raises(PublishedError, match="line 4: predicted = 'yes' is neither True nor False"):
        load.huang_predictions()


def test_every_source_is_described_in_full(folder):
    for source in read_sources(folder).values():
        assert all((source.title, source.authors, source.repository, source.file, source.retrieved, source.licence))
        assert source.arxiv.replace(".", "").isdecimal()
        assert len(source.traps) >= 3
