"""Code of the user's own: whatever it raises is one line, but an interrupt; and only files that are files are run."""

import os

import pytest

from lengthgen.infrastructure import userfile
from lengthgen.infrastructure.errors import LengthgenError
from lengthgen.infrastructure.userfile import Guarded, load_object, objects_of, run_file, shown, split_file, user_code


class MineError(LengthgenError):
    pass


class Silent(Exception):
    def __str__(self):
        raise RuntimeError("no message")


class Odd(BaseException):
    pass


FAILURES = [
    (SystemExit(0), "SystemExit: 0"),
    (SystemExit(), "SystemExit:"),
    (EOFError(), "EOFError:"),
    (Odd("x"), "Odd: x"),
    (ValueError("two\nlines\x1b[31m"), r"ValueError: two lines\x1b[31m"),
    (Silent(), "Silent: (its message cannot be shown)"),
    (MemoryError(), "MemoryError:"),
    (GeneratorExit(), "GeneratorExit:"),
]


@pytest.mark.parametrize(("failure", "reason"), FAILURES, ids=lambda failure: type(failure).__name__)
def test_an_exception_of_the_users_code_is_one_line_that_says_where(failure, reason):
    with pytest.raises(MineError) as caught, user_code("'mine.py': prompt fails", error=MineError):
        raise failure
    assert str(caught.value) == f"'mine.py': prompt fails: {reason}"
    assert caught.value.__cause__ is failure


def test_a_long_message_is_cut():
    with pytest.raises(MineError) as caught, user_code("it fails", error=MineError):
        raise ValueError("x" * 10**7)
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize("passed", [KeyboardInterrupt, MineError, LengthgenError])
def test_interrupts_and_our_own_errors_pass(passed):
    with pytest.raises(passed) as caught, user_code("it fails", error=MineError):
        raise passed("as it is")
    assert str(caught.value) == "as it is"


def test_a_guarded_function_is_guarded_once_and_anew():
    options = {"read": lambda answer: answer + 1, "fails": "again fails at {}".format, "error": MineError}
    once = Guarded(lambda at: 1 // at, **options)
    again = Guarded(once, **options)
    assert (once(1), again(1)) == (2, 2)
    assert once == again and hash(once) == hash(again)
    with pytest.raises(MineError, match=r"^again fails at 0: ZeroDivisionError"):
        again(0)


def run_users_file(file, text):
    file.write_text(f"import os\n{text}\n", encoding="utf-8")
    return run_file(str(file), what="task", error=MineError)


def test_a_function_that_ends_the_process_is_an_error(tmp_path):
    own = run_users_file(tmp_path / "own.py", "def own():\n    os._exit(0)")["own"]
    with pytest.raises(MineError, match=r"^it fails: SystemExit: it calls os\._exit\(0\)$"):
        Guarded(own, read=int, fails=lambda: "it fails", error=MineError)()


def test_processes_that_the_users_code_forks_end_as_ever_and_so_does_ours(tmp_path):
    own = "def own():\n    child = os.fork()\n    return os.waitpid(child, 0)[1] if child else os._exit(3)"
    forked = Guarded(
        run_users_file(tmp_path / "own.py", own)["own"], read=int, fails=lambda: "it fails", error=MineError
    )
    assert os.waitstatus_to_exitcode(forked()) == 3
    if not (child := os.fork()):
        os._exit(4)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 4


@pytest.fixture
def odd_files(tmp_path):
    """Return a folder of files that must not be run, each named after the reason."""
    os.mkfifo(tmp_path / "pipe.py")
    (tmp_path / "device.py").symlink_to("/dev/zero")
    (tmp_path / "folder.py").mkdir()
    with (tmp_path / "large.py").open("wb") as file:
        file.truncate(userfile.LARGEST + 1)
    return tmp_path


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("none.py", "task file '.*none.py' does not exist"),
        ("pipe.py", "'.*pipe.py' is no regular file"),
        ("device.py", "'.*device.py' is no regular file"),
        ("folder.py", "'.*folder.py' is no regular file"),
        ("large.py", "task file '.*large.py' has 16,777,217 bytes; at most 16,777,216 are run"),
        ("a\0b.py", "task file '.*b.py' "),
        ("x" * 1000, "task file '.*' "),
    ],
    ids=lambda name: name[:10],
)
def test_only_regular_files_of_bounded_size_are_run(odd_files, name, says):
    with pytest.raises(MineError, match=says):
        run_file(f"{odd_files}/{name}", what="task", error=MineError)


OURS = "from lengthgen.infrastructure.errors import LengthgenError\nraise LengthgenError('no luck')"


@pytest.mark.parametrize(
    ("text", "error", "says"),
    [
        ("os._exit(0)", MineError, r"fails: SystemExit: it calls os\._exit\(0\)$"),
        (OURS, MineError, r"task file '.*own\.py' fails: LengthgenError: no luck"),
        ("raise KeyboardInterrupt", KeyboardInterrupt, None),
    ],
)
def test_a_file_that_fails_is_named_but_an_interrupt_passes(tmp_path, text, error, says):
    with pytest.raises(error, match=says):
        run_users_file(tmp_path / "own.py", text)


@pytest.mark.parametrize("name", ["", "x" * 101, "a\nb", "\x1b[2J", None, 3, b"x"])
def test_names_are_short_and_can_be_printed(name):
    with pytest.raises(MineError, match="the name of a task is a text of 1 to 100 printable characters"):
        userfile.require_name(name, "name of a task", MineError)


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("x" * 100, f"'{'x' * 60}'..."),
        (10**5000, "a value of type int"),
        (10**20, "a value of type int"),
        (1 - 10**20, "-99999999999999999999"),
        (3, "3"),
        (None, "None"),
        (0.5, "0.5"),
        ([1] * 10**6, "a value of type list"),
        (Silent(), "a value of type Silent"),
    ],
    ids=range(9),
)
def test_values_are_shown_in_a_few_words(value, words):
    assert shown(value) == words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("mine.py:one", ("mine.py", "one")),
        ("a/b:c.py:one", ("a/b:c.py", "one")),
        ("mine.py", ("mine.py", None)),
        ("mine.py:", ("mine.py", "")),
        ("mine.txt:one", None),
        ("parity", None),
        (":one", None),
        ("", None),
    ],
)
def test_a_file_is_distinguished_from_a_name(text, expected):
    assert split_file(text) == expected


@pytest.fixture
def mine(tmp_path):
    file = tmp_path / "mine.py"
    file.write_text(
        "import math\nfrom abc import ABC\nfrom textwrap import dedent\n"
        "class Pair(tuple): pass\nfirst = (1, 2)\nsecond = (3,)\n_hidden = (4,)\npair = Pair()\n",
        encoding="utf-8",
    )
    return str(file)


def load(text, **options):
    return load_object(text, what="pair", error=MineError, **options)


def test_an_object_is_loaded_by_its_name(mine):
    assert load(f"{mine}:first", kind=tuple) == (1, 2)
    assert load(f"{mine}:_hidden", kind=tuple) == (4,)
    assert load(f"{mine}:pair") == ()


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("frist", {"kind": tuple}, "defines no tuple 'frist': did you mean first?"),
        ("pair", {"kind": tuple}, "defines no tuple 'pair': choose first or second; 'pair' has type Pair"),
        ("x", {"kind": int}, "defines no int 'x': it defines none"),
        ("", {}, "defines no '': choose Pair, first, second or pair"),
        ("math", {}, "defines no 'math': choose Pair, first, second or pair; 'math' has type module"),
    ],
)
def test_an_unknown_name_is_reported_with_the_nearest(mine, name, options, message):
    with pytest.raises(MineError) as caught:
        load(f"{mine}:{name}", **options)
    assert str(caught.value).startswith(f"pair file '{mine}' {message}")


@pytest.mark.parametrize("text", ["mine.py", "mine", ""])
def test_a_text_without_file_and_name_is_refused(text):
    with pytest.raises(MineError, match=f"'{text}' names no pair: write path/to/file.py:name"):
        load(text)


def test_objects_of_a_file_are_public_and_of_one_exact_type(mine):
    defined = run_file(mine, what="pair", error=MineError)
    assert list(objects_of(defined, tuple)) == ["first", "second"]
    assert list(objects_of(defined)) == ["Pair", "first", "second", "pair"]
