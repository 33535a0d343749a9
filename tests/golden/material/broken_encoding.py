"""Encoding of a user's own whose bias is no formula."""

from lengthgen import Encoding

broken = Encoding(name="broken", title="broken", bias=lambda j, i, n: "far")
