"""Audit of position encodings and whole models.  Entry points: `audit`, `models.audit.audit_model`, `assert_lawful`."""

from lengthgen.empirical.audit.lawful import assert_lawful
from lengthgen.empirical.audit.report import audit
from lengthgen.empirical.audit.subject import AuditError, Kind, Subject

__all__ = ["AuditError", "Kind", "Subject", "assert_lawful", "audit"]
