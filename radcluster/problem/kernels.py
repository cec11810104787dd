"""How kernels are compiled, and a sort for them.

Numba compiles a kernel on its first call on a machine and keeps it beside its source, or where
``NUMBA_CACHE_DIR`` says. Two habits keep that short. Helpers get none of the wrappers through which
Python would call them, which cost more than the helpers themselves. And kernels neither allocate
nor sort through NumPy, whose compiled versions are large.

A kernel's cache is renewed when its own file changes: so a kernel and its helpers share a file.
"""

from __future__ import annotations

from radcluster import compiled

#: What Python calls.
kernel = compiled.kernel
#: What only kernels call.
helper = compiled.kernel(cached=False, no_cpython_wrapper=True, no_cfunc_wrapper=True)


@helper
def sort_by(order, key, count):
    """Sort the first ``count`` entries of ``order`` so that ``key[order[a]]`` increases: heapsort.

    Entries with equal keys may end in any order.
    """
    begin, end = count // 2, count
    while end > 1:
        if begin > 0:
            begin -= 1
        else:
            end -= 1
            order[end], order[0] = order[0], order[end]
        parent = begin
        child = 2 * parent + 1
        while child < end:
            if child + 1 < end and key[order[child]] < key[order[child + 1]]:
                child += 1
            if key[order[parent]] >= key[order[child]]:
                break
            order[parent], order[child] = order[child], order[parent]
            parent = child
            child = 2 * parent + 1
