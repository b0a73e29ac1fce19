"""Being asked to stop."""

import signal
import threading
import time
from types import FrameType, TracebackType


class Stopped(KeyboardInterrupt):
    """A run was asked to stop by this signal, and all of it is saved."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


class Signals:
    """Hears SIGINT (Ctrl-C) and SIGTERM for the length of a `with`.

    The work in hand is ended first. A second signal ends it at once; one that follows within a second counts as the
    same, since a launcher hands on what a terminal has sent to all.
    """

    def __init__(self) -> None:
        self.number = 0
        self._since = 0.0

    def asked(self) -> bool:
        return self.number > 0

    def __enter__(self) -> "Signals":
        self._held = {}
        if threading.current_thread() is threading.main_thread():  # elsewhere Python hears none
            heeded = (s for s in (signal.SIGINT, signal.SIGTERM) if signal.getsignal(s) is not signal.SIG_IGN)
            self._held = {s: signal.signal(s, self._heard) for s in heeded}
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        for number, handler in self._held.items():
            signal.signal(number, handler)

    def _heard(self, number: int, frame: FrameType | None) -> None:
        now = time.monotonic()
        if self.number and now - self._since > 1:
            raise KeyboardInterrupt
        self.number, self._since = number, now
