"""Two accounts, two directions."""

import threading
import time

ann, bob = threading.Lock(), threading.RLock()


def there():
    with ann, bob:
        pass


def back():
    time.sleep(0.3)
    with bob, ann:
        pass


threads = [threading.Thread(target=work, name=work.__name__) for work in (there, back)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
