"""Double-checked initialisation that publishes the object when it is complete."""

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
                made = Settings()
                made.language = "en"
                instance = made
    return instance


def user():
    assert settings().language is not None


users = [threading.Thread(target=user, name=f"user-{n}") for n in (1, 2)]
for each in users:
    each.start()
for each in users:
    each.join()
