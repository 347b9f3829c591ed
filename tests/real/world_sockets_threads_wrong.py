# WRONG: one recv for two sends
import socket, threading, time
srv = socket.socket(); srv.bind(("127.0.0.1", 0)); srv.listen()
got = []
def serve():
    c, _ = srv.accept()
    with c:
        got.append(c.recv(100))
t = threading.Thread(target=serve); t.start()
with socket.create_connection(srv.getsockname()) as s:
    s.sendall(b"ab")
    s.sendall(b"cd\n")
    t.join()
assert got == [b"abcd\n"], got
srv.close()
