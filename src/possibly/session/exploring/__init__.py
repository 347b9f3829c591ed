"""A program under control: explored, replayed, confirmed.

- `checks`: what is asked of an execution beside that it does not fail
- `claims`: claims of a program (`possibly.claim`), judged on each execution's partial order
- `cluster`: exploring with the machines of a cluster
- `confirm`: confirming a prediction
- `deepening`: levels of preemptions beside a search that will not come to its end
- `diverged`: what is told of an execution that did not go the way it had gone before
- `exploration`: what is asked of a search, and what it answers
- `explore`: exploring a program
- `functions`: exploring a function
- `inputs`: inputs from Hypothesis, each tried on every schedule
- `objects`: live objects: is every history that threads can bring about one of the object used by one
  thread alone?
- `replay`: A failing schedule as a file, and one that is run again from its file
- `resumed`: A search that goes on where an earlier one stopped
- `search`: a search that is under way
- `traces`: an execution as a trace
- `programs`: programs to be explored, as views ask for them
- `branches`: A search whose branches are explored by the workers of a cluster; the tree of executions stays
  here
"""
