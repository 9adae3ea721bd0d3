"""Block plans: operations that run again as they ran before are put off, and computed together as one node.

tape     what a place did last time, followed: each operation is checked against it and deferred
plan     the deferred operations compiled into straight-line code, forward and backward
node     the one node of a plan in the graph, and how it is taken apart into single operations
"""
