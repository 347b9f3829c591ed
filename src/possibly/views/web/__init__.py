"""The picture: one self-contained HTML page (`page`) from one document (`document`), or live (`server`)."""
