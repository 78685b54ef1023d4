"""``envdyno pack``."""

from __future__ import annotations

from pathlib import Path

import click

from envdyno.cli.refusal import refusing


@click.command()
@click.argument("source", type=click.Path(path_type=Path), metavar="BUNDLE|PACKED")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    metavar="PATH",
    help="The file, or with --open the folder, to write.  [default: beside the source]",
)
@click.option("--redact", is_flag=True, help="Replace host names and names of home folders.")
@click.option("--open", "unpack", is_flag=True, help="Make a folder of a packed bundle again.")
def pack(source: Path, out: Path | None, *, redact: bool, unpack: bool) -> int:
    r"""Make one file of a bundle, with a hash of everything in it, to give away.

    \b
      envdyno pack BUNDLE --redact
      envdyno pack BUNDLE.zip --open --out BUNDLE

    show, report, export and history read a packed bundle as it is. Opening one writes plain files that its
    manifest names and nothing else, and never outside the folder.
    """
    with refusing():
        from envdyno.cli.pack_verbs import open_pack, pack_bundle

        return open_pack(source, out) if unpack else pack_bundle(source, out, redact=redact)
