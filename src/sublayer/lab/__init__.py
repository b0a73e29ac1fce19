"""The tutorials' claims, each an experiment of seconds to minutes with a verdict and a picture."""

from sublayer.lab.claim import Bench as Bench
from sublayer.lab.claim import Claim as Claim
from sublayer.lab.claim import Measured as Measured
from sublayer.lab.judge import Verdict as Verdict
from sublayer.lab.judge import judge as judge
