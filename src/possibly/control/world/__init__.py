"""The world around a program, as far as it is inside the program too: what is simulated, and how.

- `wires`: one direction of a connection, on which each item arrives in a step of its own
- `happenings`: what happens to an event loop, in a turn of its own
- `faults`: what may go wrong, at any moment and so many times
- `transports`: the ends of a connection, as event loops have them
- `ends`: the ends of a connection, as sockets have them
- `flows`: how much is on its way, and who waits for that
- `listeners`: where servers are, and how connections come to them
- `network`: servers and connections of event loops on this machine
- `secure`: TLS on them; `secure_sockets`: on sockets that block
- `sockets`: `socket.socket` between threads, and in the hands of event loops; `doors` leads there
- `readers`: callbacks of event loops for open files
- `datagrams`: the same for datagrams
- `disks`: a disk on which there is no room
- `waiting`: for one of several files, and for the world outside
- `tables`: what belongs to a socket
- `processes`: processes that the program forks
- `trios`: `trio`
- `libraries`: code that is not watched, in the turns of event loops
- `databases`: `sqlite3` under control
- `signals`: those that the program sends to itself, and those that timers, children and faults bring
"""
