"""The controlled runtime: a real program, one task at a time, a fresh process for each execution."""
