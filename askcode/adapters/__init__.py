"""Adapters: one vendor each, imported late, only by wiring."""
