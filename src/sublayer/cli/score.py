"""sublayer score"""

import json
from pathlib import Path
from typing import Annotated

import typer


def score(
    run: Annotated[Path, typer.Argument(help="run folder")],
    file: Annotated[list[Path], typer.Argument(help="pairs: one TSV or JSONL, or two parallel files")],
    tokens: Annotated[bool, typer.Option("--tokens", help="a log-probability for each token too")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="an object a line")] = False,
) -> None:
    """Log-probability (nats, EOS counted) of each given target; an empty line for a pair with an empty side."""
    from sublayer.data import read_pairs
    from sublayer.tasks.bundle import load

    pairs = read_pairs(file[0] if len(file) == 1 else (file[0], file[1]))
    scored = load(run).score(pairs)
    at = 1
    for pair, found in zip(pairs, scored, strict=True):
        print("\n" * (pair.line - at), end="")
        at = pair.line + 1
        if as_json:
            each = dict(tokens=found.tokens, token_logps=found.token_logps) if tokens else {}
            print(json.dumps({"line": pair.line, "logp": found.logp, **each}, ensure_ascii=False))
        else:
            each_token = (f"{t}:{p:.4f}" for t, p in zip(found.tokens, found.token_logps, strict=True))
            print("\t".join([f"{found.logp:.6f}", *([" ".join(each_token)] if tokens else [])]))
