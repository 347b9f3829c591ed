/* What a C program may say to `possibly`, and where its MPI calls stand. All of it may be left out. */
#ifndef POSSIBLY_H
#define POSSIBLY_H
#include <mpi.h>

void possibly_claim(const char *formula);            /* a claim about all ranks, from here on */
void possibly_watch(const char *name, const int *value); /* claims may speak of rankN.name */
void possibly_at(const char *file, int line);

#define POSSIBLY_HERE possibly_at(__FILE__, __LINE__)
#define MPI_Send(...) (POSSIBLY_HERE, MPI_Send(__VA_ARGS__))
#define MPI_Ssend(...) (POSSIBLY_HERE, MPI_Ssend(__VA_ARGS__))
#define MPI_Recv(...) (POSSIBLY_HERE, MPI_Recv(__VA_ARGS__))
#define MPI_Barrier(...) (POSSIBLY_HERE, MPI_Barrier(__VA_ARGS__))
#define MPI_Bcast(...) (POSSIBLY_HERE, MPI_Bcast(__VA_ARGS__))
#define MPI_Reduce(...) (POSSIBLY_HERE, MPI_Reduce(__VA_ARGS__))
#define MPI_Allreduce(...) (POSSIBLY_HERE, MPI_Allreduce(__VA_ARGS__))
#endif
