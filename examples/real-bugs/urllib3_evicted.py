"""A manager keeps one pool; a thread uses the pool of one host while another asks for a second host's."""
# WRONG with urllib3==1.26.15, RIGHT with urllib3==1.26.16

import threading

import urllib3

manager = urllib3.PoolManager(num_pools=1)
errors = []


def ask(host):
    pool = manager.connection_from_host(host, port=80)
    connection = pool._get_conn()
    pool._put_conn(connection)


threads = [threading.Thread(target=ask, args=(host,)) for host in ("127.0.0.1", "127.0.0.2")]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
