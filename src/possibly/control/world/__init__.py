"""The world around a program, as far as it is inside the program too: what is simulated, and how.

- `wires`: one direction of a connection, on which each item arrives in a step of its own
- `transports`: the ends of a connection, as event loops have them
- `network`: servers and connections of event loops on this machine
"""
