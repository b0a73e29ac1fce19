"""sublayer score"""

import json
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Annotated

import typer

from sublayer.cli.options import Files, Run, SkipBad, TrustCode, translator
from sublayer.cli.parts import Into, Part, into, pairs_of

if TYPE_CHECKING:
    from sublayer.tasks.base import Scored

AT_ONCE = 1024  # lines


def score(
    run: Run,
    file: Files,
    tokens: Annotated[bool, typer.Option("--tokens", help="a log-probability for each token too")] = False,
    skip_bad: SkipBad = False,
    as_json: Annotated[bool, typer.Option("--json", help="an object a line")] = False,
    shard: Part = None,
    out: Into = None,
    trust_code: TrustCode = False,
) -> None:
    """Log-probability (nats, EOS counted) of each given target; an empty line for a pair that is left out."""
    from sublayer.tasks.bundle import load
    from sublayer.tasks.judging import told

    task = translator(load(run, trust_code=trust_code), "score")
    first, lines = pairs_of(run, file, skip_bad, shard)
    write = partial(told, task, ask=task.score, write=partial(_line, tokens=tokens, as_json=as_json))
    if out is not None:
        return into(out, file, lines, write, first)
    while some := list(islice(lines, AT_ONCE)):
        for text in write(some, first):
            print(text)
        first += len(some)


def _line(number: int, found: "Scored", *, tokens: bool, as_json: bool) -> str:
    if as_json:
        each = dict(tokens=found.tokens, token_logps=found.token_logps) if tokens else {}
        return json.dumps({"line": number, "logp": found.logp, **each}, ensure_ascii=False)
    each_token = (f"{t}:{p:.4f}" for t, p in zip(found.tokens, found.token_logps, strict=True))
    return "\t".join([f"{found.logp:.6f}", *([" ".join(each_token)] if tokens else [])])
