"""A chunk of data whose reading kills a worker. In a module that workers can import."""

import os
import signal

#: Chunks that are read before a worker is killed: six for the ends of the data, six to count
#: cells, and then some while the first tiles are being sorted.
READ = 15


def counted_chunk(block, folder):
    """A chunk of the data; the worker that reads the last of :data:`READ` chunks is killed."""
    with open(os.path.join(folder, "reads"), "ab", buffering=0) as file:
        file.write(b".")
        if os.fstat(file.fileno()).st_size == READ:
            os.kill(os.getpid(), signal.SIGKILL)
    return block
