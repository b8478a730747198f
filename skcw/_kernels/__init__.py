"""Compiled loops over arrays; nothing here is public."""
