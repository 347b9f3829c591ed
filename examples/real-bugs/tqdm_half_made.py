"""One thread makes a bar while another closes its own, which looks at all bars there are."""
# OPEN with tqdm==4.19.5, RIGHT with tqdm==4.31.0

import io
import threading

from tqdm import tqdm

tqdm.monitor_interval = 0  # no thread that watches the bars


def work():
    for _ in tqdm(range(1), file=io.StringIO()):
        pass


threads = [threading.Thread(target=work) for _ in range(2)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
