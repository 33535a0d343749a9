"""Laws as one assertion for test suites: `assert_lawful(module)`."""

from collections.abc import Iterable, Sequence
from typing import Any

from lengthgen.empirical.audit.loading import subjects
from lengthgen.empirical.audit.models.audit import audit_model
from lengthgen.empirical.audit.models.whole import own_model
from lengthgen.empirical.audit.report import audit
from lengthgen.empirical.audit.rules import ORDER, RULES, Severity
from lengthgen.empirical.audit.subject import AuditError
from lengthgen.infrastructure.errors import nearest


def assert_lawful(
    thing: Any,
    *,
    claims: Iterable[str] | None = None,
    dtypes: Sequence[str] = ("float64", "float32", "bfloat16"),
    to: int = 8192,
    fail_on: str = "error",
    allow: Iterable[str] = (),
    **sizes: Any,
) -> list[dict[str, Any]]:
    """Audit a position encoding or a whole model, and raise AssertionError if it breaks a law.

    Args:
        thing: module, function or factory, see `loading.py`; or a model that takes token ids.
        claims: laws to test instead of the usual ones.
        dtypes: dtypes of queries and keys.
        to: last position.
        fail_on: least severity that fails: "error", "warning" or "note".
        allow: ids of rules that do not fail, see `rules.RULES`.
        **sizes: heads, head_dim, parameters, other; see `loading.subjects`.

    Returns:
        Answers of the audit as plain data.

    Raises:
        AssertionError: a finding, with its rule, first position, mend and reproduction.
        AuditError: the object cannot be audited, or a severity or a rule is unknown.
    """
    allowed = require_known(fail_on, allow)
    name = getattr(thing, "__name__", type(thing).__name__)
    model = own_model(thing, name)
    if model is not None:
        answers = audit_model(model, requested={}, dtypes=dtypes, to=to, budget=None)
    else:
        made = subjects(thing, name=name, claims=claims, **sizes)
        answers = [audit(subject, dtypes=dtypes, to=to) for subject in made]
    failing = [finding for answer in answers for finding in failures(answer, fail_on, allowed)]
    if failing:
        raise AssertionError(f"{name} breaks {len(failing)} laws:\n" + "\n".join(map(_shown, failing)))
    return answers


def require_known(fail_on: str, allow: Iterable[str]) -> list[str]:
    """Return the rules that are allowed; AuditError if the severity or one of them is unknown."""
    if fail_on not in ORDER:
        raise AuditError(f"unknown severity '{fail_on}': choose among {', '.join(ORDER)}")
    allowed = [allow] if isinstance(allow, str) else [*allow]
    for name in allowed:
        if name not in RULES:
            raise AuditError(f"no rule '{name}' can be allowed: {nearest(str(name), RULES)}")
    return allowed


def failures(answer: dict[str, Any], fail_on: str, allowed: Iterable[str]) -> list[dict[str, Any]]:
    """Findings of an answer that are at least as severe, and whose rule is not allowed."""
    worst = ORDER[: ORDER.index(Severity(fail_on)) + 1]
    return [
        finding for finding in answer["findings"] if finding["severity"] in worst and finding["rule"] not in allowed
    ]


def _shown(finding: dict[str, Any]) -> str:
    where = "; ".join(
        f"{setting}: {'everywhere' if first is None else f'from {first}'}"
        for setting, first in finding["first"].items()
    )
    return f"- {finding['rule']} ({finding['severity']}): {finding['says']} [{where}]. Mend: {finding['mend']}"
