"""`sublayer` for a test that runs it very often: a process that has torch loaded forks for each command.

python fast_sublayer.py serve SOCKET        waits for commands; prints a line once it does
python fast_sublayer.py ask SOCKET ARGS…    is `sublayer ARGS…`: same folder, streams, PYTHONPATH and exit code
"""

import json
import os
import signal
import socket
import sys
import traceback


def serve(address: str) -> None:
    # All that the verbs, and torch's optimizers and counters, import when they run.
    import matplotlib.figure  # noqa: F401
    import torch._dynamo
    import torch.utils.flop_counter

    import sublayer.lab.run
    import sublayer.tasks.attend
    import sublayer.tasks.describe  # noqa: F401
    from sublayer.cli.main import run

    torch.set_num_threads(1)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(address)
        listening.listen()
        print("ready", flush=True)
        while True:
            asking, _ = listening.accept()
            with asking:
                message, streams, _, _ = socket.recv_fds(asking, 2**16, 3)
                if os.fork() == 0:
                    answer(asking, json.loads(message), streams, run)
                for stream in streams:
                    os.close(stream)


def answer(asking: socket.socket, asked, streams, run) -> None:
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    sys.stdin, sys.stdout, sys.stderr = (open(number, mode) for number, mode in enumerate("rww"))
    os.chdir(asked["folder"])
    sys.path[:0] = asked["path"]
    sys.argv = ["sublayer", *asked["args"]]
    code = 0
    try:
        run()
    except SystemExit as end:
        code = int(end.code or 0)
    except BaseException:
        traceback.print_exc()
        code = 1
    finally:
        sys.stdout.flush()
        asking.sendall(bytes([code]))
        os._exit(0)


def ask(address: str, args: list[str]) -> int:
    path = [folder for folder in os.environ.get("PYTHONPATH", "").split(os.pathsep) if folder]
    asked = json.dumps({"args": args, "folder": os.getcwd(), "path": path})
    with socket.socket(socket.AF_UNIX) as asking:
        asking.connect(address)
        socket.send_fds(asking, [asked.encode()], [0, 1, 2])
        return (asking.recv(1) or b"\1")[0]


if __name__ == "__main__":
    if sys.argv[1] == "serve":
        serve(sys.argv[2])
    sys.exit(ask(sys.argv[2], sys.argv[3:]))
