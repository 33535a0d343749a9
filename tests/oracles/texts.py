"""Any text, for hypothesis."""

from hypothesis import strategies as st

# What UTF-8 can write. `st.text()` alone finds that out by trying all characters, for seconds, in a fresh checkout.
_CHARACTERS = st.characters(exclude_categories=["Cs"])


def any_text(*, longest: int) -> st.SearchStrategy[str]:
    """Texts of up to so many characters, of all but surrogates."""
    return st.text(_CHARACTERS, max_size=longest)
