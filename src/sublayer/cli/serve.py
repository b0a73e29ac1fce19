"""sublayer serve"""

from typing import Annotated

import typer

from sublayer.cli.options import TrustCode, translator


def serve(
    runs: Annotated[list[str], typer.Argument(metavar="RUN...", help="run folders, as FOLDER or NAME=FOLDER")],
    host: Annotated[str, typer.Option(help="0.0.0.0: every address of this machine")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0: one that is free")] = 8000,
    engine: Annotated[str, typer.Option(help="native, ctranslate2, onnx, or auto: the fastest that fits")] = "native",
    key: Annotated[
        str | None, typer.Option("--api-key", envvar="SUBLAYER_API_KEY", help="asked for", show_default=False)
    ] = None,
    limit: Annotated[list[str] | None, typer.Option(help="name=value, for example waiting=512; see the docs")] = None,
    trust_code: TrustCode = False,
) -> None:
    """Answer over HTTP, and show a page to try it, until Ctrl-C or SIGTERM; what was taken on is answered first."""
    import logging
    from functools import partial

    from sublayer.export.ways import with_engine
    from sublayer.serve.doors import door, named
    from sublayer.serve.http import application
    from sublayer.serve.limits import read_limits
    from sublayer.serve.metrics import Meters
    from sublayer.serve.server import listen, run
    from sublayer.serve.service import Service
    from sublayer.tasks.bundle import load
    from sublayer.tasks.translate import Translate

    limits, tell = read_limits(limit or ()), partial(typer.echo, err=True)
    with listen(host, port) as bound:
        doors = {}
        for name, folder in named(runs).items():
            task = load(folder, trust_code=trust_code)
            if engine in ("native", "auto") and not isinstance(task, Translate):
                quick = task.for_inference()
            else:
                quick = with_engine(translator(task, f"--engine {engine}"), folder, engine, scored=True, tell=tell)
            doors[name] = door(task, quick, limits)
        app = application(Service(doors, limits, Meters()), key)
        logging.basicConfig(format="%(asctime)s %(name)s %(message)s", level=logging.INFO)
        address, number = bound.getsockname()[:2]
        shown = f"[{address}]" if ":" in address else address
        if key is None and not (address.startswith("127.") or address == "::1"):
            tell(f"Whoever reaches {shown} can ask: set SUBLAYER_API_KEY, or stay with --host 127.0.0.1.")
        bound.listen(limits.connections)  # who reads the address may ask: the kernel holds it until uvicorn is there
        tell(f"{', '.join(doors)}: http://{shown}:{number}/  (Ctrl-C ends it)")
        run(app, bound, limits)
