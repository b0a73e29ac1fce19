"""python -m sublayer"""

from sublayer.cli.main import run

run()
