"""The command `completion`."""

import click

from holdfast.cli.call import Call


@click.command()
@click.argument("shell", type=click.Choice(("bash", "zsh", "fish")))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Print a shell completion script.

    \b
        holdfast completion bash >> ~/.bashrc
        holdfast completion zsh > ~/.zfunc/_holdfast
        holdfast completion fish > ~/.config/fish/completions/holdfast.fish
    """
    from click.shell_completion import get_completion_class

    kind = get_completion_class(shell)
    assert kind is not None
    made = kind(ctx.find_root().command, {}, "holdfast", "_HOLDFAST_COMPLETE")
    script = made.source_template % made.source_vars()
    ctx.ensure_object(Call).tell(script, {"shell": shell, "script": script})
