"""Waiting for one of several files, or for what is not under control.

- `selecting`: `select.select`, and the selectors of the library
- `polling`: `select.poll` and `select.epoll`, as a program uses them itself
- `counters`: `os.eventfd`
- `wishes`: what event loops wait for
- `outward`: waiting for the world outside, which lets others go on
"""
