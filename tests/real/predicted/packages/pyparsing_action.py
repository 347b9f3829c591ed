"""pyparsing with packrat parses under a lock of all grammars, actions too; the program parses under a lock that one takes."""

import threading
import time

import pyparsing

pyparsing.ParserElement.enable_packrat()
lock, words = threading.Lock(), []


def known(found):
    with lock:
        words.append(found[0])


loud = pyparsing.Word(pyparsing.alphas).set_parse_action(known)
quiet = pyparsing.Word(pyparsing.nums)


def learn():
    loud.parse_string("hello")


def count():
    with lock:
        quiet.parse_string("12")


threads = [threading.Thread(target=learn, name="learn"), threading.Thread(target=count, name="count")]
for thread in threads:
    thread.start()
    time.sleep(0.2)
for thread in threads:
    thread.join()
