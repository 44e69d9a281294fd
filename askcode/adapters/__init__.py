"""Adapters: one vendor each, imported late, only by wiring."""

import os

# Read when lancedb is imported: its own log lines on stderr are not meant for our users.
os.putenv("LANCEDB_LOG", "off")
