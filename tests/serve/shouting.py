"""A server on a free port, which it writes on a line: python -m tests.serve.shouting shout|small [limit=value …]

The key that it asks for is SUBLAYER_API_KEY, where that is set.
"""

import os
import sys
import time

from tests.serve.asking import Shout

from sublayer.serve.http import application
from sublayer.serve.limits import read_limits
from sublayer.serve.metrics import Meters
from sublayer.serve.server import listen, run
from sublayer.serve.service import Service


class Slow(Shout):
    """`wait` takes half a second, `flood` makes a very large answer."""

    def answer(self, texts, settings):
        time.sleep(0.5 * ("wait" in texts))
        for number, text in enumerate(texts):
            yield number, {"answer": text.upper() * (8_000_000 if text == "flood" else 1)}


if __name__ == "__main__":
    limits = read_limits(sys.argv[2:])
    if sys.argv[1] == "small":
        from tests.serve.small import small_door  # with torch, which takes seconds to import
        from tests.small_tasks import small

        from sublayer.serve.doors import door

        doors = {"m": small_door(limits, beam=4)}
        for kind in ("classify", "tag", "complete", "embed", "answer", "fill"):
            task, _ = small(kind)
            doors[kind] = door(task, task.for_inference(), limits)
    else:
        doors = {"m": Slow()}
    bound = listen("127.0.0.1", 0)
    print(bound.getsockname()[1], flush=True)
    run(application(Service(doors, limits, Meters()), os.environ.get("SUBLAYER_API_KEY")), bound, limits)
    print("ended", flush=True)
