"""What a run becomes if more is known of it.

- `regions`: stretches of a process during which nobody else does anything are one event
- `timed`: clocks that differ by so much at most order what lies further apart
"""
