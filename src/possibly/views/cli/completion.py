"""`possibly --completion bash|zsh|fish` and `possibly --man`: the command line told to shells and to `man`.

Both are made from the parsers of the commands, so they know what the commands know.

    eval "$(possibly --completion bash)"
    possibly --man | man -l -
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass

from possibly import __version__


@dataclass(frozen=True, slots=True)
class Option:
    names: tuple[str, ...]
    metavar: str
    """Empty for one that takes no value."""
    about: str
    choices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Command:
    name: str
    about: str
    description: str
    epilog: str
    options: tuple[Option, ...]


def commands_of(parser: argparse.ArgumentParser) -> list[Command]:
    """Every command with its options."""
    (group,) = [each for each in parser._actions if isinstance(each, argparse._SubParsersAction)]
    about = {each.dest: each.help or "" for each in group._choices_actions}
    return [
        Command(name, about[name], sub.description or "", sub.epilog or "", tuple(_options(sub)))
        for name, sub in group.choices.items()
    ]


def _options(parser: argparse.ArgumentParser) -> Iterator[Option]:
    for action in parser._actions:
        if action.option_strings and action.help != argparse.SUPPRESS:
            takes = action.nargs != 0
            metavar = str(action.metavar or action.dest.upper()) if takes else ""
            choices = tuple(map(str, action.choices or ()))
            yield Option(
                tuple(action.option_strings), metavar, (action.help or "").replace("%%", "%"), choices
            )


def script(shell: str, commands: list[Command]) -> str:
    """What a shell evaluates to complete our commands."""
    return {"bash": _bash, "zsh": _zsh, "fish": _fish}[shell](commands)


def _words(command: Command) -> str:
    return " ".join(name for option in command.options for name in option.names)


def _chosen(command: Command) -> Iterator[tuple[str, str]]:
    for option in command.options:
        for name in option.names:
            if option.choices:
                yield name, " ".join(option.choices)


def _bash(commands: list[Command]) -> str:
    names = " ".join(command.name for command in commands)
    lines = [
        "_possibly() {",
        '  local word="${COMP_WORDS[COMP_CWORD]}" before="${COMP_WORDS[COMP_CWORD-1]}"',
        '  local command="${COMP_WORDS[1]}"',
        "  COMPREPLY=()",
        f'  if [ "$COMP_CWORD" -eq 1 ]; then COMPREPLY=($(compgen -W "{names}" -- "$word")); return; fi',
        '  case "$command $before" in',
    ]
    for command in commands:
        for name, choices in _chosen(command):
            reply = f'COMPREPLY=($(compgen -W "{choices}" -- "$word")); return;;'
            lines.append(f'    "{command.name} {name}") {reply}')
    lines += ["  esac", '  case "$word" in -*) ;; *) COMPREPLY=($(compgen -f -- "$word")); return;; esac']
    lines.append('  case "$command" in')
    for command in commands:
        lines.append(f'    {command.name}) COMPREPLY=($(compgen -W "{_words(command)}" -- "$word"));;')
    return "\n".join([*lines, "  esac", "}", "complete -o filenames -F _possibly possibly"]) + "\n"


def _zsh(commands: list[Command]) -> str:
    lines = ["#compdef possibly", "_possibly() {", "  if (( CURRENT == 2 )); then", "    local -a names=("]
    lines += [f"      {_quoted(f'{command.name}:{command.about}')}" for command in commands]
    lines += ["    )", "    _describe command names; return", "  fi", "  case $words[2] in"]
    for command in commands:
        lines.append(f"    {command.name}) compadd -- {_words(command)}; _files;;")
    return "\n".join([*lines, "  esac", "}", "compdef _possibly possibly"]) + "\n"


def _fish(commands: list[Command]) -> str:
    lines = []
    for command in commands:
        first = f"complete -c possibly -n __fish_use_subcommand -f -a {command.name}"
        lines.append(f"{first} -d {_quoted(command.about)}")
        for option in command.options:
            longs = [f"-l {name[2:]}" for name in option.names if name.startswith("--")]
            shorts = [f"-s {name[1:]}" for name in option.names if not name.startswith("--")]
            takes = ["-r"] if option.metavar else []
            choices = [f"-a {_quoted(' '.join(option.choices))}"] if option.choices else []
            seen = f"-n '__fish_seen_subcommand_from {command.name}'"
            parts = [seen, *longs, *shorts, *takes, *choices, f"-d {_quoted(option.about)}"]
            lines.append(f"complete -c possibly {' '.join(parts)}")
    return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "'\\''") + "'"


# ---- man ----------------------------------------------------------------------------------------


def man_page(description: str, epilog: str, commands: list[Command]) -> str:
    """A page for `man`, in roff."""
    lines = [f'.TH POSSIBLY 1 "" "possibly {__version__}"', ".SH NAME", f"possibly \\- {_roff(description)}"]
    lines += [".SH SYNOPSIS", ".B possibly", ".I COMMAND", "[options]", ".SH COMMANDS"]
    for command in commands:
        lines += [f".SS {_roff(f'possibly {command.name}')}", _roff(command.description)]
        for option in command.options:
            value = f" \\fI{_roff(option.metavar)}\\fR" if option.metavar else ""
            names = ", ".join(f"\\fB{_roff(name)}\\fR{value}" for name in option.names)
            lines += [".TP", names, _roff(option.about)]
        lines += [".PP", ".nf", *map(_roff, command.epilog.splitlines()), ".fi"]
    return "\n".join([*lines, ".SH EXIT STATUS", ".nf", *map(_roff, epilog.splitlines()), ".fi"]) + "\n"


def _roff(text: str) -> str:
    escaped = text.replace("\\", "\\e").replace("-", "\\-").replace("\n", " ")
    return f"\\&{escaped}" if escaped.startswith((".", "'")) else escaped
