"""The terminal: the menu, options that commands share, and how answers and progress are shown."""
