"""Refusals of commands: one line on stderr, nothing on stdout, and exit code 2."""


def refused(ended, *says, longest=700):
    """Check that a command, of this (exit code, stdout, stderr), was refused and says all this; return the line."""
    code, out, err = ended
    assert (code, out, err.count("\n")) == (2, "", 1), err
    assert err.startswith("error: ") and "Traceback" not in err and "[Errno" not in err
    assert len(err) < longest, err
    for part in says:
        assert part in err, err
    return err
