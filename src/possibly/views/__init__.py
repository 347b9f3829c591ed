"""What a person or another program sees: text, JSON, pictures, files in foreign formats, the command line.

Nobody imports this folder. A view renders data that others computed and decides nothing.
"""
