"""Several processes for one training on this machine, through torchrun's own launcher."""

import logging
import os
import sys
from collections.abc import Sequence

from torch.distributed.elastic.multiprocessing.api import SignalException
from torch.distributed.elastic.multiprocessing.errors import ChildFailedError
from torch.distributed.launcher.api import LaunchConfig, elastic_launch


def launch(processes: int, arguments: Sequence[str]) -> int:
    """`sublayer ARGUMENTS` in so many processes; the exit code of the first that failed, 0 where none did.

    The first to fail ends the others. Threads are shared out where OMP_NUM_THREADS does not say how many.
    """
    # Without it a second attempt finds the first one's dead addresses (pytorch/pytorch issue 135712).
    os.environ["TORCH_DISABLE_SHARE_RDZV_TCP_STORE"] = "1"
    os.environ.setdefault("OMP_NUM_THREADS", str(max(1, (os.cpu_count() or 1) // processes)))
    logging.getLogger("torch.distributed.elastic").setLevel(logging.CRITICAL)  # each process says what was wrong
    config = LaunchConfig(
        min_nodes=1,
        max_nodes=1,
        nproc_per_node=processes,
        run_id="sublayer",
        rdzv_backend="c10d",
        rdzv_endpoint="127.0.0.1:0",
        max_restarts=0,
        monitor_interval=0.2,
    )
    try:
        elastic_launch(config, sys.executable)("-m", "sublayer", *arguments)
    except ChildFailedError as error:
        return error.get_first_failure()[1].exitcode
    except SignalException as error:  # handed on to the processes, which have saved and told it
        return 128 + int(error.sigval)
    return 0
