"""Traces as Parquet: one row an event, one file a run, written and read by DuckDB (`possibly[parquet]`).

- `form`: what stands in such a file, and DuckDB
- `write`: from a trace to a file
- `read`: from a file to a trace, or to as much of it as a question needs
"""
