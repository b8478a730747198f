"""Small helpers without a subject of their own; nothing here is public."""
