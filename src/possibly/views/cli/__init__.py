"""The command line: `main` reads the arguments, a command a file does the work.

- `completion`: `possibly --completion bash|zsh|fish` and `possibly --man`
- `doctor`: `possibly doctor`
- `files`: files that the commands read and write
- `formats`: `--format`: text for a person, JSON for a program, and what CI servers and code hosts read
- `messages`: what the commands say beside their results, always on standard error and safe for a terminal;
  its width
- `progress`: A progress bar on a terminal, for work that lasts
- `properties`: the options that say what to check and how far, shared by the commands that check
- `settings`: `[tool.possibly]` in `pyproject.toml`
- `usage`: the command line as `argparse` knows it
"""
