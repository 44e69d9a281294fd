"""askcode: ask your codebase questions, and get answers whose citations hold."""

__version__ = "0.1.0"
