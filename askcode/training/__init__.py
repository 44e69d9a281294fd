"""Make the embedding model that comes with askcode, from public source packages.

Nothing of askcode imports this; it needs the extra `train`.
"""
