"""The program as processes of the operating system that report over a socket.

- `controller`: one execution as a `System`
- `launch`: starting the program of an execution
- `wire`: how a controlled process and its controller speak
- `lines`: what a program says that is not Python
"""
