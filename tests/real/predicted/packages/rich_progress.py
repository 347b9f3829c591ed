"""rich renders a column under the lock of the progress; the program advances it under the lock that the column takes."""

import io
import threading
import time

from rich.console import Console
from rich.progress import Progress, ProgressColumn
from rich.text import Text

lock, done = threading.Lock(), []


class Done(ProgressColumn):
    def render(self, task):
        with lock:
            return Text(str(len(done)))


progress = Progress(Done(), console=Console(file=io.StringIO()), auto_refresh=False)
task = progress.add_task("work", total=2)


def show():
    with progress._lock:
        progress.make_tasks_table(progress.tasks)


def advance():
    with lock:
        done.append(1)
        progress.advance(task)


threads = [threading.Thread(target=show, name="show"), threading.Thread(target=advance, name="advance")]
for thread in threads:
    thread.start()
    time.sleep(0.2)
for thread in threads:
    thread.join()
