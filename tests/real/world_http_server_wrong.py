# WRONG: ThreadingHTTPServer handler counts without lock
import threading, urllib.request, time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
count = 0
class H(BaseHTTPRequestHandler):
    def do_GET(self):
        global count
        n = count
        time.sleep(0.01)
        count = n + 1
        self.send_response(200); self.end_headers(); self.wfile.write(b"ok")
    def log_message(self, *a): pass
s = ThreadingHTTPServer(("127.0.0.1", 0), H)
threading.Thread(target=s.serve_forever, daemon=True).start()
def get(): assert urllib.request.urlopen(f"http://127.0.0.1:{s.server_port}/").read() == b"ok"
ts = [threading.Thread(target=get) for _ in range(2)]
[t.start() for t in ts]; [t.join() for t in ts]
s.shutdown()
assert count == 2, count
