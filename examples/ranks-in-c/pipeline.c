/* A scheduler hands out jobs to workers, and adds up what they say. Each worker says first how many jobs it
   has done, then their sum. The scheduler believes that the sum follows the count of the same worker.

     mpicc pipeline.c possibly_mpi.c -o pipeline
     possibly explore --mpi 3 ./pipeline          the answer of another worker comes in between
     possibly explore --mpi 3 ./pipeline right    it asks for the sum of the worker that it has heard of */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "possibly.h"

enum { COUNT = 1, SUM = 2 };

static int heard, total, wrong;

static int receive(int *from, int tag) {
    int value;
    MPI_Status status;
    MPI_Recv(&value, 1, MPI_INT, *from, tag, MPI_COMM_WORLD, &status);
    *from = status.MPI_SOURCE;
    return value;
}

static void schedule(int workers, int right) {
    possibly_watch("heard", &heard);
    possibly_watch("total", &total);
    possibly_watch("wrong", &wrong);
    possibly_claim("G(rank0.wrong == 0) & F(rank0.heard == 2)");
    for (heard = 0; heard < workers; heard++) {
        int first = MPI_ANY_SOURCE;
        int count = receive(&first, COUNT);
        int second = right ? first : MPI_ANY_SOURCE;
        int sum = receive(&second, SUM);
        if (sum != 10 * count) wrong++;
        total += sum;
    }
    for (int worker = 1; worker <= workers; worker++)
        MPI_Send(&total, 1, MPI_INT, worker, 0, MPI_COMM_WORLD);
}

static void work(int rank) {
    int count = rank, sum = 10 * rank, total_of_all, scheduler = 0;
    MPI_Send(&count, 1, MPI_INT, 0, COUNT, MPI_COMM_WORLD);
    MPI_Send(&sum, 1, MPI_INT, 0, SUM, MPI_COMM_WORLD);
    total_of_all = receive(&scheduler, 0);
    if (rank == 1) printf("in all %d\n", total_of_all);
}

int main(int count, char **words) {
    int rank, size;
    MPI_Init(&count, &words);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank == 0)
        schedule(size - 1, count > 1 && !strcmp(words[1], "right"));
    else
        work(rank);
    MPI_Finalize();
    return 0;
}
