"""Responses and everything that makes them: readers, validation, the bundled example."""
