"""A precision audit of anything that says how positions act on attention: see `report.audit`."""

from empirical.audit.report import audit
from empirical.audit.subject import AuditError, Kind, Subject

__all__ = ["AuditError", "Kind", "Subject", "audit"]
