"""Reports as one self-contained HTML page (`page`) with a space-time diagram (`diagram`)."""
