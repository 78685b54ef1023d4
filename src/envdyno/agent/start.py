"""Second life of a worker process: the script that ``bootstrap`` executes.

Kept empty but for the call, since a workload's own spawned children load this file again by its path.
"""

import os
import sys

if __name__ == "__main__":
    sys.path[0] = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    from envdyno.agent.worker import main

    main(sys.argv[1:])
