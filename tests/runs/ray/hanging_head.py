"""The head, beside a cluster that hangs in the function that HANGS names."""

import os
import sys
import time
import types

from dpcore.runs.ray_pool import head

if __name__ == "__main__":
    functions = {
        "__init__": lambda cluster, address: None,
        os.environ["HANGS"]: lambda cluster, *_: time.sleep(60),
    }
    module = types.ModuleType("dpcore.runs.ray_pool.ray_cluster")
    module.__dict__.update(Unreachable=RuntimeError, RayCluster=type("RayCluster", (), functions))
    sys.modules[module.__name__] = module
    head.CONNECT = head.ROUND = 0.2
    head.main()
