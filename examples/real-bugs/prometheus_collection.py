"""The garbage collector may run at any allocation, so also while a metric of the collector itself is read."""
# OPEN with prometheus-client==0.5.0, RIGHT with prometheus-client==0.6.0

import gc
import threading

from prometheus_client import REGISTRY, generate_latest

gc.set_threshold(1)  # at nearly every allocation, so that one run is enough
threads = [threading.Thread(target=generate_latest, args=(REGISTRY,)) for _ in range(2)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
