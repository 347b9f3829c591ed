# RIGHT: blocking sockets between threads, full read
import socket, threading
srv = socket.socket(); srv.bind(("127.0.0.1", 0)); srv.listen()
def serve():
    c, _ = srv.accept()
    with c:
        data = b""
        while not data.endswith(b"\n"):
            data += c.recv(100)
        c.sendall(data.upper())
t = threading.Thread(target=serve); t.start()
with socket.create_connection(srv.getsockname()) as s:
    s.sendall(b"ab"); s.sendall(b"cd\n")
    assert s.recv(100) == b"ABCD\n"
t.join(); srv.close()
