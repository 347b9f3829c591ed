# WRONG: a spawned process does not have what its parent has put into a variable
import multiprocessing

settings = {}


def work():
    assert settings["limit"] == 3


if __name__ == "__main__":
    settings["limit"] = 3
    process = multiprocessing.get_context("spawn").Process(target=work)
    process.start()
    process.join()
    assert process.exitcode == 0
