"""A small shop: a FastAPI application that keeps its stock with aiosqlite and asks other services with httpx.

`planted` names the mistake that is in it: `cache`, `cancellation`, `limit`, or nothing. Each is one that was
made in earnest somewhere; the correct form stands beside it.
"""
