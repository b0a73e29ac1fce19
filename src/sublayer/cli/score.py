"""sublayer score"""

import json
from typing import Annotated

import typer

from sublayer.cli.options import Files, Run, SkipBad, TrustCode, examples_of, translator


def score(
    run: Run,
    file: Files,
    tokens: Annotated[bool, typer.Option("--tokens", help="a log-probability for each token too")] = False,
    skip_bad: SkipBad = False,
    as_json: Annotated[bool, typer.Option("--json", help="an object a line")] = False,
    trust_code: TrustCode = False,
) -> None:
    """Log-probability (nats, EOS counted) of each given target; an empty line for a pair that is left out."""
    from sublayer.tasks.bundle import load

    task = translator(load(run, trust_code=trust_code), "score")
    pairs = examples_of(run, file, skip_bad)
    scored = task.score(pairs)
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
    print("\n" * max((line + 1 - at for line, _ in pairs.skipped[-1:]), default=0), end="")
