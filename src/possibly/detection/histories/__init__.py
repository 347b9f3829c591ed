"""What a history of operations or transactions shows about the object behind it.

models      what an object may answer: registers, queues, stacks, sets, counters, and a user's own
parts       a history taken apart where its parts decide for themselves (by key, by element)
search      one part: an order of its operations that the model allows, or the return that none reaches
lookahead   reads that a state has lost for good, for the search to turn back early
linearize   the whole history, the shortest prefix that cannot be linearised
"""
