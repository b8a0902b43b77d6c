"""``bayesift serve``: a model that answers over HTTP."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bayesift.cli._options import ModelFile
from bayesift.cli._shell import say, say_if_compiling

if TYPE_CHECKING:
    from bayesift.serving import ModelServer

_LIMITS = "Limits"


def serve(
    model: ModelFile,
    *,
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int | None, typer.Option(min=0, max=65535, help="Port (default: 8788, or any free one).")] = None,
    token_file: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="File with the token that requests must carry (or set BAYESIFT_TOKEN)."),
    ] = None,
    public_url: Annotated[
        str | None,
        typer.Option(
            help="Without a token: address at which other machines reach it; needed if --host is not this machine."
        ),
    ] = None,
    proxy: Annotated[
        list[str] | None,
        typer.Option(
            help="Address of a trusted proxy in front of it, which forwards client addresses; may be repeated."
        ),
    ] = None,
    most_texts: Annotated[int, typer.Option(min=1, help="Most texts per request.", rich_help_panel=_LIMITS)] = 1_000,
    most_characters: Annotated[
        int,
        typer.Option(min=1, help="Most characters per request.", rich_help_panel=_LIMITS),
    ] = 1_000_000,
) -> None:
    """Answer requests for labels over HTTP: texts in, labels, probabilities and reasons out."""
    from bayesift._extras import require

    for module in ("fastapi", "uvicorn"):
        require(module, extra="review", purpose="serving a model")
    from bayesift.serving import Settings, open_server, read_token

    token = read_token(token_file)
    say_if_compiling()
    # A character takes up to six bytes in JSON, and a text a few more.
    limits = Settings(
        texts=most_texts,
        characters=most_characters,
        body_limit=6 * most_characters + 16 * most_texts + 10_000,
        waiting=8 * most_characters,
        of_one_address=2 * most_characters,
    )
    with open_server(
        model, host=host, port=port, public_url=public_url, token=token, proxies=proxy or [], settings=limits
    ) as server:
        if public_url is not None and token is None:
            say("Warning: without a token, everybody who can reach the server can use it.")
        server.serve(lambda: _announce(model, server))


def _announce(model: Path, server: ModelServer) -> None:
    typer.echo(f"{model.name}: POST {server.address}/classify")
    typer.echo("Stop with Ctrl+C.")
