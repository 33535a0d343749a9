"""Audits of all model types of transformers that take token ids, each in a process of its own."""

import multiprocessing
import os
import resource
import time
from collections.abc import Iterator, Sequence
from multiprocessing.connection import Connection, wait
from typing import Any

from lengthgen.empirical.audit.models.configs import PREFIX, classes_of, library, model_types
from lengthgen.empirical.audit.subject import AuditError
from lengthgen.questions.auditing import audit

LIMIT = 60
"""Seconds of processor time after which the audit of one family is ended; it hangs after ten times as many."""


def families() -> dict[str, list[str]]:
    """Model types that take token ids, each with the further types that are made of the same classes."""
    package = library()
    by_classes: dict[Any, list[str]] = {}
    for name, (_, models) in model_types(package).items():
        if set(models) == {""} and not name.endswith(("_text", "_text_model")):  # pictures, sounds and parts of them
            continue
        try:
            config_class, model_class, _ = classes_of(package, name, {})
        except AuditError:  # its audit will say why
            by_classes[name] = [name]
        else:
            names = by_classes.setdefault((config_class, model_class), [])
            names.insert(0 if name == config_class.model_type else len(names), name)
    return {names[0]: names[1:] for names in by_classes.values()}


def survey(names: Sequence[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Rows of model types, in the order in which their audits end.

    A row has either `seconds` of processor time, `recognised` and `findings`, or `refused`: one line that says why.
    """
    forked = multiprocessing.get_context("fork")  # the libraries, whose import takes seconds, are loaded once
    waiting, running = list(reversed(names)), {}
    while waiting or running:
        while waiting and len(running) < (os.cpu_count() or 1):
            name = waiting.pop()
            receiver, sender = forked.Pipe(duplex=False)
            child = forked.Process(target=_send, args=(name, sender), daemon=True)
            child.start()
            sender.close()
            running[receiver] = name, child, time.monotonic()
        ready = wait(list(running), timeout=1.0)
        for receiver, (name, child, start) in list(running.items()):
            if receiver in ready or time.monotonic() - start > 10 * LIMIT:
                yield name, _received(receiver, receiver in ready)
                child.kill()
                child.join()
                del running[receiver]


def _received(receiver: Connection, ready: bool) -> dict[str, Any]:
    try:
        row: dict[str, Any] = receiver.recv() if ready else {"refused": "the audit hangs"}
    except EOFError:
        return {"refused": f"the audit takes more than {LIMIT} s, or ends its process"}
    return row


def _send(name: str, sender: Connection) -> None:
    """Send the row of one model type."""
    resource.setrlimit(resource.RLIMIT_CPU, (LIMIT + int(time.process_time()), resource.RLIM_INFINITY))
    try:
        audits = audit(f"{PREFIX}{name}")["audits"]
    except AuditError as error:
        sender.send({"refused": " ".join(str(error).split())})
    except Exception as error:
        sender.send({"refused": f"{type(error).__name__}: {' '.join(str(error).split())}"})
    else:
        layers = [layer["encoding"] for layer in audits[0]["recognised"]]
        findings = [finding for part in audits for finding in part["findings"]]
        seconds = round(time.process_time(), 1)
        sender.send({"seconds": seconds, "recognised": list(dict.fromkeys(layers)), "findings": findings})
