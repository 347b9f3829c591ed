"""What is touched at one moment, as parts of a step.

- `hashed`: sets whose order is an accident
- `inspected`: functions and classes that a library looks into
- `lives`: which objects live, who asks for that and who lets go of them
- `members`: the places where an attribute is looked for, as Python does it
- `parts`: several things that are touched in one step, and objects of libraries as such things
- `proxies`: objects that stand for others
- `suspended`: how far a coroutine is, and its frame
- `unwatched`: what code that is not watched reads of what somebody replaces
"""
