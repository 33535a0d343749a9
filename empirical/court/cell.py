"""Cell of evidence: a question, and the runs that answer it."""

from collections.abc import Mapping
from dataclasses import dataclass

from lengthgen.circuits.rivals.rival import Question


@dataclass(frozen=True, kw_only=True)
class MeasuredRun:
    """Run of one model, or the mean of several where a source gives no more.

    Attributes:
        name: seed or model name of the source.
        accuracy: length -> share of test inputs that are answered without any error. Where a source bins lengths, the
            key is the largest length of the bin.
    """

    name: str
    accuracy: Mapping[int, float]


@dataclass(frozen=True, kw_only=True)
class Cell:
    """Question with the runs that answer it.

    Attributes:
        evidence: name of the data set.
        question: what is asked.
        runs: what was measured; at least one run, each with accuracies up to and beyond the training length.
        remark: trap of this cell, for people; empty if there is none.
        group: name of the group of runs if the data set has several cells of one question; else empty.
    """

    evidence: str
    question: Question
    runs: tuple[MeasuredRun, ...]
    remark: str = ""
    group: str = ""

    @property
    def name(self) -> str:
        """Name of the cell: data set, task, encoding, lengths of training and test, and the group if there is one."""
        question = self.question
        subject, lengths = question.subject.name, f"{question.train}-{question.test}"
        return "/".join(filter(None, (self.evidence, subject, question.encoding, lengths, self.group)))
