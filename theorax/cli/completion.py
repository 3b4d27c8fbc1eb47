"""``verify completion``: the script that lets a shell complete commands, theorems and selectors."""

from __future__ import annotations

import click

from theorax.cli.options import OneOf

# Bash takes a colon for the end of a word: the line is read whole, and what stands before the colon is left out of replies.
BASH = """\
_verify_completion() {
    local line=${COMP_LINE:0:COMP_POINT} current words reply kept=''
    current=${line##*[[:space:]]}
    IFS=$' \\t\\n' read -r -a words <<< "$line"
    local place=${#words[@]}
    [[ -n $current ]] && place=$((place - 1))
    [[ $COMP_WORDBREAKS == *:* && $current == *:* ]] && kept=${current%"${current##*:}"}
    COMPREPLY=()
    while IFS=',' read -r reply words; do
        [[ $reply == plain ]] && COMPREPLY+=("${words#"$kept"}")
    done < <(COMP_WORDS=$line COMP_CWORD=$place _VERIFY_COMPLETE=bash_complete "$1" 2> /dev/null)
}
complete -o default -F _verify_completion verify
"""

INSTALL = {
    "bash": 'Add this line to ~/.bashrc:  eval "$(verify completion bash 2> /dev/null)"',
    "zsh": 'Add this line to ~/.zshrc, below compinit:  eval "$(verify completion zsh 2> /dev/null)"',
    "fish": "Write it to a file:  verify completion fish > ~/.config/fish/completions/verify.fish",
}


@click.command("completion")
@click.argument("shell", type=OneOf(tuple(INSTALL)))
def completion(shell: str) -> int:
    """Print the completion script of a shell: bash, zsh or fish; on the standard error, the line that installs it."""
    click.echo(script(shell), nl=False)
    click.echo(INSTALL[shell], err=True)
    return 0


def script(shell: str) -> str:
    """The completion script of this shell."""
    if shell == "bash":
        return BASH
    from click.shell_completion import get_completion_class

    from theorax.cli.main import group

    found = get_completion_class(shell)
    assert found is not None
    return found(group, {}, "verify", "_VERIFY_COMPLETE").source()
