"""Which files are collected: Ipopt's need Ipopt, except where its absence is to be a failure."""

import importlib.util
import os

collect_ignore = []
if importlib.util.find_spec("cyipopt") is None and not os.environ.get("RADCLUSTER_ALL_SOLVERS"):
    collect_ignore.append("test_factorise.py")
