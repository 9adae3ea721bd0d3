"""x"""
from __future__ import annotations
class Mishap:
    def __init__(self,*a): self.a=a
def mishap(*a): return Mishap(*a)
