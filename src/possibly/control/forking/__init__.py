"""The processes in which executions run: how they are made, used again and ended.

- `collector`: the garbage collector, which runs only where the program calls it
- `disk`: files as they were, put back after each execution
- `execution`: one execution, in a process of its own that was forked for it and ends with it
- `forks`: the process that is forked for each execution
- `function`: A function of a program that runs already, as something to be executed under control again and
  again
- `heap`: what an execution has changed of all that was there before it
- `hearing`: what the interpreter tells of itself
- `lasting`: A process that is used again
- `noted`: what was not under control in an execution
- `outside`: what is not under control, noticed
- `patience`: how long a process that does not answer is waited for
- `repeatable`: which programs may be executed again in the process that has executed them
- `restored`: state of libraries that an execution may change and that is put back when its process is used
  again
- `runner`: the life of a process that was forked to execute, and branches of executions
- `standing`: where a process stands that does not go on
- `system`: processes of the system
- `travelling`: jobs on their way to these processes
- `unseen`: what no look at objects shows: modules that may be used all the same, and the state of the process
- `zygote`: A program as the rest of possibly sees it
"""
