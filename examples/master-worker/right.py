"""An MPI master that asks one worker after the other."""

from mpi4py import MPI

comm = MPI.COMM_WORLD
if comm.Get_rank() == 0:
    results = []
    for rank in range(1, comm.Get_size()):
        comm.send("go", dest=rank)
        results.append(comm.recv(source=MPI.ANY_SOURCE))
    first = results[0]
    print("of rank 1:", first)
else:
    comm.recv(source=0)
    sent = sum(range(comm.Get_rank() ** 4 * 100_000))  # the more, the higher the rank
    comm.send(sent, dest=0)
