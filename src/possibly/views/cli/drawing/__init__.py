"""Commands that draw.

- `pages`: writing the page of a run, with the commands that show each answer again
- `pictures`: `possibly view --svg FILE`, `--png FILE`, `--dot FILE`
- `serve`: `possibly view FILE --serve`
- `view`: `possibly view FILE`
"""
