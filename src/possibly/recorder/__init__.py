"""Listens to the probes and yields a Trace: a log a process of the operating system, merged at the end."""
