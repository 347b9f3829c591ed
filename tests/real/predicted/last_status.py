"""The report of progress may come after the report of the end."""

import threading
import time

status = "new"


def progress():
    global status
    status = "running"


def finish():
    global status
    time.sleep(0.3)
    status = "finished"


threads = [threading.Thread(target=work, name=work.__name__) for work in (progress, finish)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
