"""Answers as data: `model` holds the types, `explain` says why."""
