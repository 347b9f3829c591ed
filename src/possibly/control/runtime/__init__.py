"""The controlled runtime: a real program, one task at a time, a fresh process for each execution.

- `attributes`: attributes that instructions read, store and delete, of objects, classes and modules
- `batons`: how tasks stand still and go on
- `calls`: calls: what code that is not instrumented does to what it is given
- `contents`: what the items of a container are called, and what it means to read or change them
- `encode`: an execution as bytes, from the process that ran it to the one that asked
- `footprints`: footprints of operations that touch one thing
- `insert`: accesses that turned out to race, put into the steps of the execution in which they happened
- `items`: items of containers, containers as a whole, and iterators over them
- `kernel`: the kernel of a controlled execution
- `known_calls`: what is known of methods of containers and of functions of libraries, by their names (see
  `calls`)
- `memory`: accesses to memory
- `places`: source places: which line of the user's own code is at work
- `results`: what an execution that is over was, and what else it showed
- `sites`: sites: what instrumented code shows its values to, before it touches them (see
  `probes.instructions`)
- `spin`: loops that wait
- `task`: a task of a controlled execution, and its clock
- `things`: names of the program's own objects, which do not depend on the schedule
- `touched`: what is touched at one moment, as parts of a step
- `variables`: variables that several functions see, and the names that things get from them
- `spoken`: what a specification speaks of
"""
