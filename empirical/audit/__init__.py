"""Precision audit: measure how accurately any code computes a position encoding. Entry point: `report.audit`."""

from empirical.audit.report import audit
from empirical.audit.subject import AuditError, Kind, Subject

__all__ = ["AuditError", "Kind", "Subject", "audit"]
