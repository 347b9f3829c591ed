"""The command line: `main` reads the arguments, a command a file does the work."""
