"""Double-checked initialisation that publishes the object before it is filled."""

import threading


class Settings:
    def __init__(self):
        self.language = None


instance = None
guard = threading.Lock()


def settings():
    global instance
    if instance is None:
        with guard:
            if instance is None:
                instance = Settings()
                instance.language = "en"
    return instance


def user():
    assert settings().language is not None


users = [threading.Thread(target=user, name=f"user-{n}") for n in (1, 2)]
for each in users:
    each.start()
for each in users:
    each.join()
