/* Ranks written in C under `possibly explore --mpi N ./program`: `mpicc program.c possibly_mpi.c -o program`.

   Law: each call of MPI below is told before it is done, and done when the debugger says so, by the profiling
   interface (PMPI). A message is sent at once, from a copy, so that its receive finds it whenever that goes on;
   a receive from anybody receives from whom it is told. Without a debugger all is as it always was. The lines
   are those of docs/protocol.md, version 1. Only calls on MPI_COMM_WORLD are controlled; what is not is named. */
#include <mpi.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { LINE = 8192, WATCHED = 32, CLAIMS = 8 };

static int wire = -1, rank, size, line_number, rounds, unbuffered;
static const char *file_name = "";
static const char *names[WATCHED], *claims[CLAIMS];
static const int *values[WATCHED];
static int watched, claimed;

struct sent {
    MPI_Request request;
    void *copy;
    struct sent *next;
};
static struct sent *under_way;

void possibly_at(const char *file, int line) {
    file_name = file;
    line_number = line;
}

void possibly_watch(const char *name, const int *value) {
    if (watched < WATCHED) {
        names[watched] = name;
        values[watched++] = value;
    }
}

void possibly_claim(const char *formula) {
    if (claimed < CLAIMS) claims[claimed++] = formula;
}

/* ---- lines ---- */

static char line[LINE];
static int length;

static void add(const char *format, ...) {
    va_list given;
    va_start(given, format);
    length += vsnprintf(line + length, LINE - length, format, given);
    va_end(given);
    if (length >= LINE) length = LINE - 1;
}

static void add_text(const char *text) {
    add("\"");
    for (; *text; text++) add(*text == '"' || *text == '\\' ? "\\%c" : "%c", *text);
    add("\"");
}

static void add_place(void) {
    char place[512];
    snprintf(place, sizeof place, "%s:%d", file_name, line_number);
    add("\"at\": ");
    add_text(line_number ? place : "");
}

static void add_seen(void) {
    add("{");
    add_place();
    add(", \"variables\": {");
    for (int each = 0; each < watched; each++) {
        add_text(names[each]);
        add(": %d%s", *values[each], each + 1 < watched ? ", " : "");
    }
    add("}}");
}

static void tell(void) {
    add("\n");
    for (int done = 0; done < length;) {
        ssize_t now = write(wire, line + done, length - done);
        if (now <= 0) _exit(0); /* the debugger has gone */
        done += now;
    }
    length = 0;
}

static void progress(void) {
    for (struct sent **each = &under_way; *each;) {
        int is_done = 0;
        PMPI_Test(&(*each)->request, &is_done, MPI_STATUS_IGNORE);
        if (!is_done) {
            each = &(*each)->next;
            continue;
        }
        struct sent *old = *each;
        *each = old->next;
        free(old->copy);
        free(old);
    }
}

/* Waits for the word to go on; meanwhile MPI goes on with what was sent. */
static void hear(char *answer) {
    for (int had = 0;;) {
        struct pollfd one = {wire, POLLIN, 0};
        progress();
        if (poll(&one, 1, under_way ? 1 : -1) <= 0) continue;
        ssize_t now = read(wire, answer + had, LINE - 1 - had);
        if (now <= 0) _exit(0);
        had += now;
        answer[had] = 0;
        if (answer[had - 1] == '\n') return;
    }
}

static void begin(const char *kind, const char *text) {
    add("{\"at\": {\"kind\": \"%s\", \"text\": \"%s\", ", kind, text);
    add_place();
}

static void arrive(char *answer) {
    add("}, \"seen\": ");
    add_seen();
    if (claimed) {
        add(", \"claims\": [");
        for (int each = 0; each < claimed; each++) {
            add_text(claims[each]);
            add(each + 1 < claimed ? ", " : "]");
        }
        claimed = 0;
    }
    add("}");
    tell();
    hear(answer);
}

static void leave(void) {
    add("{\"break\": ");
    add_seen();
    add("}");
    tell();
}

static void uncontrolled(const char *what) {
    if (wire < 0) return;
    add("{\"uncontrolled\": \"MPI %s\"}", what);
    tell();
}

static int is_controlled(MPI_Comm comm, const char *what) {
    if (wire >= 0 && comm != MPI_COMM_WORLD) uncontrolled(what);
    return wire >= 0 && comm == MPI_COMM_WORLD;
}

/* ---- beginning and end ---- */

static void connect_to_debugger(void) {
    const char *settings = getenv("POSSIBLY_MACRO"), *found;
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (!settings || !(found = strstr(settings, "\"socket\": \""))) return;
    sscanf(found + strlen("\"socket\": \""), "%107[^\"]", address.sun_path);
    unbuffered = strstr(settings, "\"unbuffered\": true") != NULL;
    wire = socket(AF_UNIX, SOCK_STREAM, 0);
    if (connect(wire, (struct sockaddr *)&address, sizeof address)) {
        perror("possibly");
        exit(1);
    }
    add("{\"hello\": \"rank%d\", \"pid\": %d, \"protocol\": 1}", rank, (int)getpid());
    tell();
}

static int begun(int status) {
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &size);
    connect_to_debugger();
    return status;
}

int MPI_Init(int *count, char ***words) { return begun(PMPI_Init(count, words)); }

int MPI_Init_thread(int *count, char ***words, int wanted, int *got) {
    return begun(PMPI_Init_thread(count, words, wanted, got));
}

int MPI_Finalize(void) {
    char answer[LINE];
    if (wire >= 0) {
        begin("end", "end");
        arrive(answer);
    }
    return PMPI_Finalize();
}

/* ---- messages ---- */

static void send_copy(const void *what, int count, MPI_Datatype type, int to, int tag) {
    MPI_Aint least, extent;
    struct sent *kept = malloc(sizeof *kept);
    PMPI_Type_get_extent(type, &least, &extent);
    kept->copy = malloc(count * extent + 1);
    memcpy(kept->copy, what, count * extent);
    PMPI_Isend(kept->copy, count, type, to, tag, MPI_COMM_WORLD, &kept->request);
    kept->next = under_way;
    under_way = kept;
}

static int controlled_send(const char *word, int synchronous, const void *what, int count, MPI_Datatype type,
                           int to, int tag) {
    char answer[LINE], text[64];
    send_copy(what, count, type, to, tag);
    snprintf(text, sizeof text, tag ? "%s(rank%d, tag=%d)" : "%s(rank%d)", word, to, tag);
    begin("send", text);
    add(", \"channel\": \"world:rank%d\", \"to\": \"rank%d\", \"tag\": \"%d\"", to, to, tag);
    add(", \"synchronous\": %s", synchronous ? "true" : "false");
    arrive(answer);
    leave();
    return MPI_SUCCESS;
}

#undef MPI_Send
int MPI_Send(const void *what, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
    if (!is_controlled(comm, "Send") || to == MPI_PROC_NULL) return PMPI_Send(what, count, type, to, tag, comm);
    return controlled_send("Send", unbuffered, what, count, type, to, tag);
}

int MPI_Ssend(const void *what, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
    if (!is_controlled(comm, "Ssend") || to == MPI_PROC_NULL) return PMPI_Ssend(what, count, type, to, tag, comm);
    return controlled_send("Ssend", 1, what, count, type, to, tag);
}

int MPI_Recv(void *where, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Status *status) {
    char answer[LINE], text[64], source[32] = "ANY_SOURCE", *found;
    if (!is_controlled(comm, "Recv") || from == MPI_PROC_NULL)
        return PMPI_Recv(where, count, type, from, tag, comm, status);
    if (from != MPI_ANY_SOURCE) snprintf(source, sizeof source, "rank%d", from);
    snprintf(text, sizeof text, tag == MPI_ANY_TAG ? "Recv(%s)" : "Recv(%s, tag=%d)", source, tag);
    begin("receive", text);
    add(", \"channel\": \"world:rank%d\"", rank);
    if (from != MPI_ANY_SOURCE) add(", \"from\": \"rank%d\"", from);
    if (tag != MPI_ANY_TAG) add(", \"tag\": \"%d\"", tag);
    arrive(answer);
    if ((found = strstr(answer, "\"from\": \"rank"))) sscanf(found, "\"from\": \"rank%d", &from);
    if ((found = strstr(answer, "\"tag\": \""))) sscanf(found, "\"tag\": \"%d", &tag);
    int result = PMPI_Recv(where, count, type, from, tag, comm, status);
    leave();
    return result;
}

/* ---- collectives ---- */

/* Who must have come before this rank goes on: everybody (-1), one rank, nobody (-2). */
static void meet(const char *word, int awaited) {
    char answer[LINE];
    begin("collective", word);
    add(", \"channel\": \"world:%s:%d\", \"members\": [", word, ++rounds);
    for (int each = 0, first = 1; each < size; each++)
        if (awaited == -1 || awaited == each) {
            add("%s\"rank%d\"", first ? "" : ", ", each);
            first = 0;
        }
    add("]");
    arrive(answer);
}

int MPI_Barrier(MPI_Comm comm) {
    if (is_controlled(comm, "Barrier")) meet("barrier", -1);
    int result = PMPI_Barrier(comm);
    if (wire >= 0 && comm == MPI_COMM_WORLD) leave();
    return result;
}

int MPI_Bcast(void *what, int count, MPI_Datatype type, int root, MPI_Comm comm) {
    if (is_controlled(comm, "Bcast")) meet("bcast", rank == root ? -2 : root);
    int result = PMPI_Bcast(what, count, type, root, comm);
    if (wire >= 0 && comm == MPI_COMM_WORLD) leave();
    return result;
}

int MPI_Allreduce(const void *what, void *where, int count, MPI_Datatype type, MPI_Op how, MPI_Comm comm) {
    if (is_controlled(comm, "Allreduce")) meet("allreduce", -1);
    int result = PMPI_Allreduce(what, where, count, type, how, comm);
    if (wire >= 0 && comm == MPI_COMM_WORLD) leave();
    return result;
}

int MPI_Reduce(const void *what, void *where, int count, MPI_Datatype type, MPI_Op how, int root,
               MPI_Comm comm) {
    if (is_controlled(comm, "Reduce")) meet("reduce", rank == root ? -1 : -2);
    int result = PMPI_Reduce(what, where, count, type, how, root, comm);
    if (wire >= 0 && comm == MPI_COMM_WORLD) leave();
    return result;
}

/* ---- what is not controlled is named ---- */

int MPI_Irecv(void *where, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Request *request) {
    uncontrolled("Irecv");
    return PMPI_Irecv(where, count, type, from, tag, comm, request);
}

int MPI_Isend(const void *what, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
              MPI_Request *request) {
    uncontrolled("Isend");
    return PMPI_Isend(what, count, type, to, tag, comm, request);
}

int MPI_Probe(int from, int tag, MPI_Comm comm, MPI_Status *status) {
    uncontrolled("Probe");
    return PMPI_Probe(from, tag, comm, status);
}

int MPI_Iprobe(int from, int tag, MPI_Comm comm, int *flag, MPI_Status *status) {
    uncontrolled("Iprobe");
    return PMPI_Iprobe(from, tag, comm, flag, status);
}
