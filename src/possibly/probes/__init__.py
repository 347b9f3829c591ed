"""Hooks in a live program: what threads, locks, queues, tasks, processes and variables are about to do and
did.

A probe knows a primitive and calls the port (`port.py`); it knows neither who listens nor what a trace is.
"""
