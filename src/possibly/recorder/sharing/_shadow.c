/* Shadow memory and its sites, in C: the compiled twin of `clocks.py`, `shadow.py` and `sites.py`.
 *
 * A Site stands among the constants of the program's code and is told, by `del site[value]` or
 * `site[key] = value`, what the next instruction is about to touch. It looks the variable up by the address of
 * its object and its key, and compares the last accesses with the clock of the running process. Nothing of the
 * program's own code is called. Conflicts that are not ordered go into the log's list as one entry each:
 * (SHARED, object, key, value, access, earlier accesses).
 *
 * No object is kept alive: the functions that free objects are replaced by ones that forget the object first.
 * They stay in place for good; where nothing is remembered they cost a look into an empty table.
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>
#include <string.h>

enum { SHARED = 31 }; /* as in `entries.py` */
enum { READS, WRITES, CHANGES, COPIES };
#define ONLY_READS(how) ((how) == READS || (how) == COPIES)
enum { NAME, ITEM, EXTENT, WHOLE, ANY };
enum { SLOTS = 512, MOST_ITEMS = 1024, THREADS = 16, LINEAR = 8 };
enum { FOLLOWS = 1, MARKS, SENDS, RECEIVES, GIVES, TAKES, GATHERS, PASSES, WAITERS };
enum { OF_SENDS = 200, OF_GATHERINGS = 201 };
enum {
    READ_GLOBAL, WRITE_GLOBAL, DELETE_GLOBAL, READ_CELL, WRITE_CELL, DELETE_CELL, READ_ATTRIBUTE,
    WRITE_ATTRIBUTE, DELETE_ATTRIBUTE, READ_ITEM, WRITE_ITEM, DELETE_ITEM, TRUTH, USE, BINARY, COMPARE, CONTAINS,
    ITERATE, ADVANCE, UNPACK, FORMAT, MATCH_CLASS, MATCH_KEYS, CALL = 24, CALL_SPREAD = 25, READ_SLICE = 32, WRITE_SLICE = 33, NOTHING = 99
}; /* as in `probes.instructions.table` */
enum { IN_PLACE = 13 };

/* ---- tables ------------------------------------------------------------------------------------ */

typedef struct {
    uint64_t key; /* 0: free; 1: was used */
    void *value;
} Slot;

typedef struct {
    Slot *slots;
    size_t mask, filled, live;
} Map;

static size_t spread(uint64_t key)
{
    key = (key ^ (key >> 31)) * 0x9E3779B97F4A7C15ull;
    return (size_t)(key ^ (key >> 29));
}

static void *map_get(const Map *map, uint64_t key)
{
    if (!map->live)
        return NULL;
    for (size_t at = spread(key) & map->mask; map->slots[at].key; at = (at + 1) & map->mask)
        if (map->slots[at].key == key)
            return map->slots[at].value;
    return NULL;
}

static void map_put(Map *map, uint64_t key, void *value)
{
    if (2 * (map->filled + 1) > map->mask) {
        size_t wanted = 64;
        while (wanted < 4 * (map->live + 1))
            wanted *= 2;
        Slot *old = map->slots;
        size_t before = old ? map->mask + 1 : 0;
        map->slots = PyMem_RawCalloc(wanted, sizeof(Slot));
        if (!map->slots)
            Py_FatalError("no memory for the shadow of the program");
        map->mask = wanted - 1;
        map->filled = map->live;
        for (size_t i = 0; i < before; i++)
            if (old[i].key > 1) {
                size_t at = spread(old[i].key) & map->mask;
                while (map->slots[at].key)
                    at = (at + 1) & map->mask;
                map->slots[at] = old[i];
            }
        PyMem_RawFree(old);
    }
    size_t at = spread(key) & map->mask;
    while (map->slots[at].key && map->slots[at].key != key)
        at = (at + 1) & map->mask;
    if (!map->slots[at].key) {
        map->filled++;
        map->live++;
    }
    map->slots[at] = (Slot){key, value};
}

static void *map_take(Map *map, uint64_t key)
{
    if (!map->live)
        return NULL;
    for (size_t at = spread(key) & map->mask; map->slots[at].key; at = (at + 1) & map->mask)
        if (map->slots[at].key == key) {
            void *found = map->slots[at].value;
            map->slots[at] = (Slot){1, NULL};
            map->live--;
            return found;
        }
    return NULL;
}

/* ---- clocks ------------------------------------------------------------------------------------ */

typedef struct {
    uint32_t count;
    uint32_t times[];
} Clock; /* what was left by a process: times by slot */

typedef struct {
    int slot; /* -1: there were too many processes */
    uint32_t count, time;
    uint32_t *times;
} Process;

typedef struct {
    Clock **clocks;
    size_t first, count, room;
} Units;

typedef struct {
    uint64_t process, sequence;
    int slot;
    uint32_t time, site;
    uint8_t how, is_told;
} Touch;

typedef struct {
    uint64_t hash;
    PyObject *name; /* of a variable, or the key of an item */
    uint8_t type;
    Touch write, read; /* a process of 0: there is none */
    Touch *more;       /* reads of further processes */
    uint32_t count, room;
} Cell;

typedef struct {
    uint32_t count, room, size; /* size: of the index */
    Cell *cells;
    uint32_t *index; /* 1 + number of the cell */
    uint64_t owner;  /* the process that alone has touched it; 0: several have */
} Object;

typedef struct {
    void (*told)(void *, int, long, PyObject *, PyObject *);
    void *itself;
    void (*moved)(void *);
} Follower; /* as in `_tell.c` */

typedef struct {
    unsigned long thread;
    uint64_t process;
    Process *who;
} Known;

typedef struct {
    PyObject_HEAD
    PyObject *entries, *counter, *threads, *me, *local;
    PyObject *extent, *whole, *any;
    uint64_t *passed;
    uint8_t rules[256], families[256];
    Map processes, marks, units, objects;
    int slots;
    Known known[THREADS];
    Follower follower;
} Memory;

static Memory *active = NULL; /* whose objects are forgotten as they end */

static Process *process_of(Memory *self, uint64_t number)
{
    Process *found = map_get(&self->processes, number + 2);
    if (!found) {
        found = PyMem_RawCalloc(1, sizeof(Process));
        found->slot = self->slots < SLOTS ? self->slots++ : -1;
        found->time = 1;
        map_put(&self->processes, number + 2, found);
    }
    return found;
}

static uint32_t known_time(const Process *who, int slot)
{
    return slot >= 0 && (uint32_t)slot < who->count ? who->times[slot] : 0;
}

static void widen(Process *who, uint32_t count)
{
    if (count <= who->count)
        return;
    who->times = PyMem_RawRealloc(who->times, count * sizeof(uint32_t));
    memset(who->times + who->count, 0, (count - who->count) * sizeof(uint32_t));
    who->count = count;
}

static void learn(Process *who, const Clock *clock)
{
    if (!clock)
        return;
    widen(who, clock->count);
    for (uint32_t i = 0; i < clock->count; i++)
        if (who->times[i] < clock->times[i])
            who->times[i] = clock->times[i];
}

static Clock *left_by(Process *who)
{
    uint32_t own = who->slot < 0 ? 0 : (uint32_t)who->slot + 1;
    uint32_t count = who->count > own ? who->count : own;
    Clock *found = PyMem_RawCalloc(1, sizeof(Clock) + count * sizeof(uint32_t));
    found->count = count;
    if (who->count)
        memcpy(found->times, who->times, who->count * sizeof(uint32_t));
    if (own)
        found->times[who->slot] = who->time;
    who->time++;
    return found;
}

static uint64_t mark_key(int family, PyObject *thing)
{
    return (PyLong_AsUnsignedLongLongMask(thing) << 8 | (uint64_t)family) + 2;
}

static void put_mark(Memory *self, int family, PyObject *thing, Clock *clock)
{
    uint64_t key = mark_key(family, thing);
    PyMem_RawFree(map_get(&self->marks, key));
    map_put(&self->marks, key, clock);
}

static void give(Memory *self, PyObject *thing, Clock *clock)
{
    uint64_t key = mark_key(0, thing);
    Units *units = map_get(&self->units, key);
    if (!units)
        map_put(&self->units, key, units = PyMem_RawCalloc(1, sizeof(Units)));
    if (units->count == units->room) {
        units->room = 2 * units->room + 4;
        units->clocks = PyMem_RawRealloc(units->clocks, units->room * sizeof(Clock *));
    }
    units->clocks[units->count++] = clock;
}

static void take(Memory *self, Process *who, PyObject *thing)
{
    Units *units = map_get(&self->units, mark_key(0, thing));
    if (!units || units->first == units->count)
        return;
    Clock *clock = units->clocks[units->first++];
    learn(who, clock);
    PyMem_RawFree(clock);
    if (units->first == units->count)
        units->first = units->count = 0;
}

static void gather(Memory *self, Process *who, PyObject *thing)
{
    uint64_t key = mark_key(OF_GATHERINGS, thing);
    Clock *before = map_get(&self->marks, key), *now = left_by(who);
    if (before && before->count > now->count) {
        Clock *other = before;
        before = now;
        now = other;
    }
    for (uint32_t i = 0; before && i < before->count; i++)
        if (now->times[i] < before->times[i])
            now->times[i] = before->times[i];
    map_put(&self->marks, key, now);
    PyMem_RawFree(before);
}

/* Every waiter that is woken; a detail of another form orders nothing here. */
static void wake(Memory *self, Process *who, int family, PyObject *waiters)
{
    for (Py_ssize_t i = 0; PyList_CheckExact(waiters) && i < PyList_GET_SIZE(waiters); i++)
        put_mark(self, family, PyList_GET_ITEM(waiters, i), left_by(who));
}

/* A queue holds something else from now on, which those see who ask how much it holds. */
static void change(Memory *self, Process *who, PyObject *detail)
{
    if (PyTuple_CheckExact(detail) && PyTuple_GET_SIZE(detail))
        detail = PyTuple_GET_ITEM(detail, 0);
    if (PyLong_CheckExact(detail))
        gather(self, who, detail);
}

static void told(void *itself, int action, long process, PyObject *thing, PyObject *detail)
{
    Memory *self = itself;
    if (!PyLong_CheckExact(thing))
        return;
    Process *who = process_of(self, (uint64_t)process);
    int family = self->families[action];
    long count = PyLong_CheckExact(detail) ? PyLong_AsLong(detail) : 1;
    switch (self->rules[action]) {
    case FOLLOWS:
        learn(who, map_get(&self->marks, mark_key(family, thing)));
        break;
    case MARKS:
        put_mark(self, family, thing, left_by(who));
        break;
    case WAITERS:
        wake(self, who, family, detail);
        break;
    case SENDS:
        put_mark(self, OF_SENDS, thing, left_by(who));
        change(self, who, detail);
        break;
    case RECEIVES: {
        Clock *clock = map_take(&self->marks, mark_key(OF_SENDS, thing));
        learn(who, clock);
        PyMem_RawFree(clock);
        change(self, who, detail);
        break;
    }
    case GIVES:
        for (; count > 0; count--)
            give(self, thing, left_by(who));
        break;
    case TAKES:
        take(self, who, thing);
        break;
    case GATHERS:
        gather(self, who, thing);
        break;
    case PASSES:
        learn(who, map_get(&self->marks, mark_key(OF_GATHERINGS, thing)));
    }
}

static void moved(void *itself)
{
    memset(((Memory *)itself)->known, 0, sizeof ((Memory *)itself)->known);
}

static Known *running(Memory *self)
{
    unsigned long ident = PyThread_get_thread_ident();
    Known *known = &self->known[(ident >> 12) % THREADS];
    if (known->who && known->thread == ident)
        return known;
    PyObject *thread = PyLong_FromUnsignedLong(ident);
    PyObject *found = thread ? PyDict_GetItemWithError(self->threads, thread) : NULL;
    PyObject *asked = found || PyErr_Occurred() ? NULL : PyObject_CallNoArgs(self->me);
    found = found ? found : asked;
    uint64_t process = found ? PyLong_AsUnsignedLongLongMask(found) : 0;
    Py_XDECREF(thread);
    Py_XDECREF(asked);
    if (!process) {
        PyErr_Clear();
        return NULL;
    }
    *known = (Known){ident, process, process_of(self, process)};
    return known;
}

/* ---- cells ------------------------------------------------------------------------------------- */

static int same_key(const Cell *cell, uint64_t hash, int type, PyObject *name)
{
    if (cell->hash != hash || cell->type != type)
        return 0;
    if (type != ITEM || cell->name == name)
        return 1;
    return Py_TYPE(cell->name) == Py_TYPE(name) && PyObject_RichCompareBool(cell->name, name, Py_EQ) == 1;
}

static Cell *cell_of(Object *object, uint64_t hash, int type, PyObject *name)
{
    if (!object->index) {
        for (uint32_t i = 0; i < object->count; i++)
            if (same_key(&object->cells[i], hash, type, name))
                return &object->cells[i];
        return NULL;
    }
    for (uint32_t at = (uint32_t)spread(hash) & (object->size - 1); object->index[at]; at = (at + 1) & (object->size - 1))
        if (same_key(&object->cells[object->index[at] - 1], hash, type, name))
            return &object->cells[object->index[at] - 1];
    return NULL;
}

static void index_cell(Object *object, uint32_t number)
{
    uint32_t at = (uint32_t)spread(object->cells[number].hash) & (object->size - 1);
    while (object->index[at])
        at = (at + 1) & (object->size - 1);
    object->index[at] = number + 1;
}

static Cell *new_cell(Object *object, uint64_t hash, int type, PyObject *name)
{
    if (object->count == object->room) {
        object->room = object->room ? 2 * object->room : 2;
        object->cells = PyMem_RawRealloc(object->cells, object->room * sizeof(Cell));
    }
    Cell *cell = &object->cells[object->count++];
    *cell = (Cell){.hash = hash, .name = Py_XNewRef(name), .type = (uint8_t)type};
    if (object->count > LINEAR && 2 * object->count > object->size) {
        PyMem_RawFree(object->index);
        object->size = object->size ? 2 * object->size : 4 * LINEAR;
        object->index = PyMem_RawCalloc(object->size, sizeof(uint32_t));
        for (uint32_t i = 0; i < object->count; i++)
            index_cell(object, i);
    } else if (object->index)
        index_cell(object, object->count - 1);
    return cell;
}

static void free_object(Object *object)
{
    for (uint32_t i = 0; i < object->count; i++) {
        Py_XDECREF(object->cells[i].name);
        PyMem_RawFree(object->cells[i].more);
    }
    PyMem_RawFree(object->cells);
    PyMem_RawFree(object->index);
    PyMem_RawFree(object);
}

/* The object ends. The keys that it had are plain values: to let go of them calls nothing. */
static void forget(void *address)
{
    if (active && active->objects.live) {
        Object *object = map_take(&active->objects, (uint64_t)(uintptr_t)address);
        if (object)
            free_object(object);
    }
}

/* ---- conflicts --------------------------------------------------------------------------------- */

enum { MOST = 64 };
typedef struct {
    Touch earlier[MOST];
    int count;
} Against;

static int is_ordered(const Touch *touch, const Known *now)
{
    if (touch->process == now->process)
        return 1;
    return touch->slot >= 0 && known_time(now->who, touch->slot) >= touch->time;
}

static void against(Against *found, Touch *touch)
{
    if (!touch->is_told && found->count < MOST)
        found->earlier[found->count++] = *touch;
}

static PyObject *touch_tuple(const Touch *touch)
{
    return Py_BuildValue("(KIIKi)", (unsigned long long)touch->process, touch->time, touch->site,
                         (unsigned long long)touch->sequence, (int)touch->how);
}

static PyObject *key_of(Memory *self, int type, PyObject *name)
{
    switch (type) {
    case NAME:
        return Py_NewRef(name);
    case ITEM:
        return PyTuple_Pack(1, name);
    case EXTENT:
        return Py_NewRef(self->extent);
    case WHOLE:
        return Py_NewRef(self->whole);
    }
    return Py_NewRef(self->any);
}

/* Writes (SHARED, object, key, value, access, earlier ones) into the log. */
static void write_down(Memory *self, const Against *found, const Touch *touch, PyObject *thing, int type,
                       PyObject *name, PyObject *value)
{
    PyObject *earlier = PyTuple_New(found->count);
    for (int i = 0; earlier && i < found->count; i++)
        PyTuple_SET_ITEM(earlier, i, touch_tuple(&found->earlier[i]));
    PyObject *entry = Py_BuildValue("(iONONN)", SHARED, thing, key_of(self, type, name), value ? value : Py_None,
                                    touch_tuple(touch), earlier);
    if (!entry || PyList_Append(self->entries, entry))
        PyErr_Clear();
    Py_XDECREF(entry);
}

/* Whether a process that reads has read before in the same way, or in one that says more. */
static int is_known(const Touch *earlier, const Touch *touch)
{
    return earlier->process == touch->process && (earlier->how == READS || touch->how == COPIES);
}

/* The newest read of a process stands for all of its reads: it is a copy only if each of them was. */
static void renew(Touch *kept, const Touch *touch)
{
    uint8_t how = kept->process == touch->process && kept->how == READS ? READS : touch->how;
    *kept = *touch;
    kept->how = how;
}

/* Whether the access conflicts with one of the cell that is not ordered; those not told yet are collected. */
static int meets(Cell *cell, const Touch *touch, const Known *now, Against *found)
{
    int is_against = 0;
    found->count = 0;
    if (ONLY_READS(touch->how)) {
        if (is_known(&cell->read, touch))
            return 0;
        for (uint32_t i = 0; i < cell->count; i++)
            if (is_known(&cell->more[i], touch))
                return 0;
    }
    if (cell->write.process && !is_ordered(&cell->write, now)) {
        is_against = 1;
        against(found, &cell->write);
        cell->write.is_told = 1;
    }
    if (ONLY_READS(touch->how))
        return is_against;
    if (cell->read.process && !is_ordered(&cell->read, now)) {
        is_against = 1;
        against(found, &cell->read);
    }
    for (uint32_t i = 0; i < cell->count; i++)
        if (!is_ordered(&cell->more[i], now)) {
            is_against = 1;
            against(found, &cell->more[i]);
        }
    return is_against;
}

static void keep(Cell *cell, const Touch *touch)
{
    if (!ONLY_READS(touch->how)) {
        cell->write = *touch;
        cell->read.process = 0;
        cell->count = 0;
        return;
    }
    if (!cell->read.process || cell->read.process == touch->process) {
        renew(&cell->read, touch);
        return;
    }
    for (uint32_t i = 0; i < cell->count; i++)
        if (cell->more[i].process == touch->process) {
            renew(&cell->more[i], touch);
            return;
        }
    if (cell->count == cell->room) {
        cell->room = 2 * cell->room + 2;
        cell->more = PyMem_RawRealloc(cell->more, cell->room * sizeof(Touch));
    }
    cell->more[cell->count++] = *touch;
}

static void empty(Cell *cell)
{
    cell->write.process = cell->read.process = 0;
    cell->count = 0;
}

/* All items at once meet each of them, and their key names the conflict. Who changes them all stands for what was
   done to each before. */
static int meets_items(Memory *self, Object *object, const Touch *touch, const Known *now, PyObject *thing,
                       PyObject *value)
{
    Against found;
    int is_told = 0;
    for (uint32_t i = 0; i < object->count; i++) {
        Cell *cell = &object->cells[i];
        if (cell->type != ITEM && cell->type != ANY)
            continue;
        int is_against = meets(cell, touch, now, &found), type = cell->type;
        PyObject *name = Py_XNewRef(cell->name);
        if (!ONLY_READS(touch->how))
            empty(cell);
        if (is_against) {
            is_told = 1;
            write_down(self, &found, touch, thing, type, name, value);
        }
        Py_XDECREF(name);
    }
    return is_told;
}

static void empty_items(Object *object)
{
    for (uint32_t i = 0; i < object->count; i++)
        if (object->cells[i].type == ITEM || object->cells[i].type == ANY)
            empty(&object->cells[i]);
}

static int is_tracked(PyTypeObject *type);

static void touch(Memory *self, PyObject *thing, int type, PyObject *name, int how, uint32_t site, PyObject *value)
{
    const Known *now = running(self);
    if (!now)
        return;
    Object *object = map_get(&self->objects, (uint64_t)(uintptr_t)thing);
    if (!object) {
        if (!is_tracked(Py_TYPE(thing)))
            return;
        object = PyMem_RawCalloc(1, sizeof(Object));
        object->owner = now->process;
        map_put(&self->objects, (uint64_t)(uintptr_t)thing, object);
    }
    uint64_t hash = type == NAME ? (uint64_t)(uintptr_t)name : (uint64_t)type;
    if (type == ITEM) {
        hash = (uint64_t)PyObject_Hash(name) * 31 + 7;
        PyErr_Clear();
    }
    Cell *cell = cell_of(object, hash, type, name);
    if (!cell && type == ITEM && object->count >= MOST_ITEMS)
        cell = cell_of(object, hash = ANY, type = ANY, name = NULL);
    Touch access = {now->process,
                    *self->passed + (uint64_t)PyList_GET_SIZE(self->entries),
                    now->who->slot,
                    now->who->time,
                    site,
                    (uint8_t)how,
                    0};
    if (object->owner == now->process) {
        if (type == WHOLE && !ONLY_READS(how))
            empty_items(object);
        keep(cell ? cell : new_cell(object, hash, type, name), &access);
        return;
    }
    object->owner = 0;
    Against found;
    int is_told = 0;
    Known mine = *now; /* whoever is called by the allocation of entries may change what is known */
    if (type == WHOLE)
        is_told = meets_items(self, object, &access, &mine, thing, value);
    else if (type == ITEM || type == ANY) {
        Cell *whole = cell_of(object, WHOLE, WHOLE, NULL);
        if (whole && meets(whole, &access, &mine, &found)) {
            is_told = 1;
            write_down(self, &found, &access, thing, type, name, value);
        }
    }
    if (is_told)
        cell = cell_of(object, hash, type, name);
    if (!cell)
        cell = new_cell(object, hash, type, name);
    int is_against = meets(cell, &access, &mine, &found);
    access.is_told = (uint8_t)(is_told || is_against);
    keep(cell, &access);
    if (is_against)
        write_down(self, &found, &access, thing, type, name, value);
}

/* ---- what ends --------------------------------------------------------------------------------- */

static destructor plain_list, plain_dict, plain_cell;

static void free_list(PyObject *object)
{
    PyObject_GC_UnTrack(object);
    Py_TRASHCAN_BEGIN(object, free_list)
    forget(object);
    plain_list(object);
    Py_TRASHCAN_END
}

static void free_dict(PyObject *object)
{
    PyObject_GC_UnTrack(object);
    Py_TRASHCAN_BEGIN(object, free_dict)
    forget(object);
    plain_dict(object);
    Py_TRASHCAN_END
}

static void free_cell(PyObject *object)
{
    forget(object);
    plain_cell(object);
}

static void free_collected(void *object)
{
    forget(object);
    PyObject_GC_Del(object);
}

static void free_plain(void *object)
{
    forget(object);
    PyObject_Free(object);
}

/* Whether the end of objects of a type is told; it is made to be, if that can be done. */
static int is_tracked(PyTypeObject *type)
{
    if (type == &PyList_Type || type == &PyDict_Type || type == &PyCell_Type)
        return 1;
    if (type->tp_free == free_collected || type->tp_free == free_plain)
        return 1;
    if (type->tp_free == PyObject_GC_Del)
        type->tp_free = free_collected;
    else if (type->tp_free == PyObject_Free)
        type->tp_free = free_plain;
    else
        return 0;
    return 1;
}

/* ---- sites ------------------------------------------------------------------------------------- */

typedef struct {
    PyObject_HEAD
    Memory *memory;
    PyObject *name;
    uint32_t number;
    int kind, more;
    const char *method; /* the newest one that was called here, and what it does */
    int does;
} Site;

enum { CHANGES_ALL = 1, CHANGES_KEY = 2, READS_KEY = 4, APPENDS = 8, POPS = 16, KEEPS = 32, COPIES_ALL = 64 };

static PyTypeObject *deque_type = NULL, *array_type = NULL;

static PyObject *text_keys, *text_setitem, *text_match_args;

/* Whether it is a container that the standard library has written in Python, where no sites are. */
static int is_written(PyTypeObject *type)
{
    if (!PyType_HasFeature(type, Py_TPFLAGS_HEAPTYPE) || !type->tp_as_mapping
        || !type->tp_as_mapping->mp_ass_subscript || PyType_IsSubtype(type, &PyDict_Type))
        return 0;
    PyObject *found = _PyType_Lookup(type, text_setitem);
    if (!found || !PyFunction_Check(found))
        return 0;
    PyObject *module = PyFunction_GET_MODULE(found), *known = PySys_GetObject("stdlib_module_names");
    if (!module || !PyUnicode_Check(module) || !known)
        return 0;
    Py_ssize_t length = PyUnicode_GET_LENGTH(module), dot = PyUnicode_FindChar(module, '.', 0, length, 1);
    PyObject *root = dot < 0 ? Py_NewRef(module) : PyUnicode_Substring(module, 0, dot);
    int is_known = root && PySet_Contains(known, root) == 1;
    Py_XDECREF(root);
    return is_known;
}

static int is_by_key(PyObject *thing)
{
    if (PyDict_Check(thing) || PySet_Check(thing))
        return 1;
    return is_written(Py_TYPE(thing)) && _PyType_Lookup(Py_TYPE(thing), text_keys);
}

/* Of numbers that can be stored one by one: `array.array`, and what has the interface of numpy's arrays. */
static int is_array(PyTypeObject *type)
{
    static PyObject *interface = NULL;
    if (type == array_type)
        return 1;
    if (type->tp_as_mapping == NULL || type->tp_as_mapping->mp_ass_subscript == NULL)
        return 0;
    if (interface == NULL && (interface = PyUnicode_InternFromString("__array_interface__")) == NULL)
        return 0;
    return _PyType_Lookup(type, interface) != NULL;
}

static int is_container(PyObject *thing)
{
    PyTypeObject *type = Py_TYPE(thing);
    if (type == &PyLong_Type || type == &PyUnicode_Type || type == &PyFloat_Type || type == &PyBool_Type
        || thing == Py_None)
        return 0;
    return PyList_Check(thing) || PyDict_Check(thing) || PySet_Check(thing) || type == deque_type
        || PyByteArray_Check(thing) || is_array(type) || is_written(type);
}

static void extent(Site *self, PyObject *thing, int how)
{
    if (is_container(thing))
        touch(self->memory, thing, EXTENT, NULL, how, self->number, NULL);
}

static void all_of(Site *self, PyObject *thing, int how)
{
    if (is_container(thing)) {
        touch(self->memory, thing, WHOLE, NULL, how, self->number, NULL);
        touch(self->memory, thing, EXTENT, NULL, how, self->number, NULL);
    }
}

static int is_plain_key(PyObject *key)
{
    return PyLong_CheckExact(key) || PyUnicode_CheckExact(key) || PyBytes_CheckExact(key) || key == Py_None;
}

/* Where the sign of an int lies in memory depends on the version of Python. */
static int is_negative(PyObject *number)
{
    int overflow = 0;
    long value = PyLong_AsLongAndOverflow(number, &overflow);
    return overflow ? overflow < 0 : value < 0;
}

/* The number of an item, or of the row of an array that has it, from 0; NULL: it is not known by a number. */
static PyObject *number_of(PyObject *thing, PyObject *key)
{
    if (PyTuple_CheckExact(key) && PyTuple_GET_SIZE(key) && is_array(Py_TYPE(thing)))
        key = PyTuple_GET_ITEM(key, 0);
    int is_made_in_python = PyType_HasFeature(Py_TYPE(key), Py_TPFLAGS_HEAPTYPE);
    if (!PyLong_CheckExact(key) && (PyBool_Check(key) || is_made_in_python || !PyIndex_Check(key)))
        return NULL;
    PyObject *number = PyNumber_Index(key);
    if (number && is_negative(number)) {
        PyObject *size = PyLong_FromSsize_t(PyObject_Size(thing));
        PyObject *counted = size ? PyNumber_Add(number, size) : NULL;
        Py_XDECREF(size);
        Py_SETREF(number, counted);
    }
    PyErr_Clear();
    return number;
}

/* Whether the item is a variable of the module whose code runs: `globals()["x"]`. */
static int is_variable(Site *self, PyObject *thing, PyObject *key, int how, PyObject *value)
{
    if (!PyUnicode_CheckExact(key) || thing != PyEval_GetGlobals())
        return 0;
    PyObject *name = Py_NewRef(key);
    PyUnicode_InternInPlace(&name);
    touch(self->memory, thing, NAME, name, how, self->number, value);
    Py_DECREF(name);
    return 1;
}

static void item(Site *self, PyObject *thing, PyObject *key, int how, PyObject *value)
{
    int by_key = is_by_key(thing);
    if (!by_key && is_written(Py_TYPE(thing))) {
        touch(self->memory, thing, WHOLE, NULL, how, self->number, value);
        return;
    }
    PyObject *number = by_key ? NULL : number_of(thing, key);
    if (number) {
        touch(self->memory, thing, ITEM, number, how, self->number, value);
        Py_DECREF(number);
    } else if (is_plain_key(key) && (by_key || (!PyLong_CheckExact(key) && !is_array(Py_TYPE(thing)))))
        touch(self->memory, thing, ITEM, key, how, self->number, value);
    else
        touch(self->memory, thing, WHOLE, NULL, how, self->number, value);
}

/* How a copy of all items reads them: in one operation unless a subclass may have code of its own. */
static int copying(PyObject *thing)
{
    return PyList_CheckExact(thing) || PyDict_CheckExact(thing) || PyAnySet_CheckExact(thing)
            || PyByteArray_CheckExact(thing)
        ? COPIES
        : READS;
}

static void store_item(Site *self, PyObject *thing, PyObject *key, PyObject *value)
{
    if (!is_container(thing) || is_variable(self, thing, key, WRITES, value))
        return;
    item(self, thing, key, WRITES, value);
    int is_new = PyDict_Check(thing) ? !is_plain_key(key) || PyDict_Contains(thing, key) != 1
                                     : is_written(Py_TYPE(thing));
    if (is_new) {
        PyErr_Clear();
        touch(self->memory, thing, EXTENT, NULL, CHANGES, self->number, NULL);
    }
}

/* Whether code of the program is called to make the item, in the middle of which others may come. */
static int makes_missing(PyObject *thing, PyObject *key)
{
    static PyTypeObject *with_missing = NULL;
    static PyObject *text_factory = NULL;
    if (PyDict_CheckExact(thing) || !PyDict_Check(thing) || !is_plain_key(key))
        return 0;
    if (!with_missing) {
        PyObject *collections = PyImport_ImportModule("_collections");
        with_missing = collections ? (PyTypeObject *)PyObject_GetAttrString(collections, "defaultdict") : NULL;
        text_factory = PyUnicode_InternFromString("default_factory");
        Py_XDECREF(collections);
    }
    if (Py_TYPE(thing) != with_missing || PyDict_Contains(thing, key) != 0)
        return 0;
    PyObject *make = PyObject_GetAttr(thing, text_factory);
    int is_own = make && (PyFunction_Check(make) || PyMethod_Check(make));
    Py_XDECREF(make);
    PyErr_Clear();
    return is_own;
}

static void read_item(Site *self, PyObject *thing, PyObject *key)
{
    if (!is_container(thing) || is_variable(self, thing, key, READS, NULL))
        return;
    if (PyLong_CheckExact(key) && is_negative(key) && !is_by_key(thing))
        touch(self->memory, thing, EXTENT, NULL, READS, self->number, NULL);
    if (makes_missing(thing, key))
        store_item(self, thing, key, NULL);
    else
        item(self, thing, key, PySlice_Check(key) ? copying(thing) : READS, NULL);
}

static void keyed_change(Site *self, PyObject *thing, PyObject *key)
{
    if (!is_container(thing) || is_variable(self, thing, key, WRITES, NULL))
        return;
    int how = is_written(Py_TYPE(thing)) ? WRITES : CHANGES;
    if (is_by_key(thing))
        item(self, thing, key, how, NULL);
    else
        touch(self->memory, thing, WHOLE, NULL, how, self->number, NULL);
    touch(self->memory, thing, EXTENT, NULL, CHANGES, self->number, NULL);
}

static int is_method(PyObject *found)
{
    PyTypeObject *type = Py_TYPE(found);
    return type == &PyFunction_Type || type == &PyMethodDescr_Type || type == &PyCFunction_Type
        || type == &PyClassMethod_Type || type == &PyStaticMethod_Type || PyType_Check(found);
}

/* Whether attributes are stored by a descriptor, as in proxies: then they are those of another object. */
static int is_proxy(PyTypeObject *type)
{
    static PyObject *storing = NULL;
    if (type->tp_setattro == PyObject_GenericSetAttr)
        return 0;
    if (storing == NULL && (storing = PyUnicode_InternFromString("__setattr__")) == NULL)
        return 0;
    PyObject *found = _PyType_Lookup(type, storing);
    return found && Py_TYPE(found) != &PyWrapperDescr_Type && !is_method(found);
}

static void named_attribute(Site *self, PyObject *thing, PyObject *name, int how, PyObject *value)
{
    Memory *memory = self->memory;
    if (PyModule_Check(thing)) {
        touch(memory, PyModule_GetDict(thing), NAME, name, how, self->number, value);
        return;
    }
    if (PyType_Check(thing)) {
        touch(memory, thing, NAME, name, how, self->number, value);
        return;
    }
    PyTypeObject *type = Py_TYPE(thing);
    PyObject *found = _PyType_Lookup(type, name);
    if (found && is_method(found))
        return;
    if (PyObject_TypeCheck(thing, (PyTypeObject *)memory->local) || is_proxy(type))
        return;
    int is_member = found && Py_TYPE(found) == &PyMemberDescr_Type;
    if (found && !is_member && Py_TYPE(found)->tp_descr_set)
        return;
    touch(memory, thing, NAME, name, how, self->number, value);
    if (found && !is_member && how == READS)
        touch(memory, (PyObject *)type, NAME, name, READS, self->number, NULL);
}

static void attribute(Site *self, PyObject *thing, int how, PyObject *value)
{
    named_attribute(self, thing, self->name, how, value);
}

/* An attribute by a name that is known only now. */
static void computed_attribute(Site *self, PyObject *thing, PyObject *name, int how)
{
    if (!PyUnicode_CheckExact(name))
        return;
    Py_INCREF(name);
    PyUnicode_InternInPlace(&name);
    named_attribute(self, thing, name, how, NULL);
    Py_DECREF(name);
}

/* `case class(...)`: the attributes that are compared, some of them by their place. */
static void matched(Site *self, PyObject *subject, PyObject *class, PyObject *names)
{
    PyObject *by_place = self->more && PyType_Check(class) ? PyObject_GetAttr(class, text_match_args) : NULL;
    for (Py_ssize_t i = 0; by_place && PyTuple_CheckExact(by_place) && i < self->more; i++)
        if (i < PyTuple_GET_SIZE(by_place))
            computed_attribute(self, subject, PyTuple_GET_ITEM(by_place, i), READS);
    Py_XDECREF(by_place);
    PyErr_Clear();
    for (Py_ssize_t i = 0; PyTuple_CheckExact(names) && i < PyTuple_GET_SIZE(names); i++)
        computed_attribute(self, subject, PyTuple_GET_ITEM(names, i), READS);
}

static int is_among(const char *name, const char *const *names)
{
    for (; *names; names++)
        if (!strcmp(name, *names))
            return 1;
    return 0;
}

static const char *const changing[] = {
    "append", "appendleft", "extend", "extendleft", "insert", "remove", "pop", "popleft", "popitem", "clear",
    "sort", "reverse", "rotate", "update", "setdefault", "add", "discard", "difference_update",
    "intersection_update", "symmetric_difference_update", "move_to_end", "__setitem__", "__delitem__", "__iadd__",
    "__imul__", "__ior__", "fill", "put", "itemset", "resize", "byteswap", "frombytes", "fromlist", NULL};
static const char *const keeping[] = {"append", "appendleft", "insert", "setdefault", "get", "pop", "__setitem__", NULL};
static const char *const keyed_changes[] = {"setdefault", "pop", "add", "discard", "remove", NULL};
static const char *const keyed_reads[] = {"get", "__getitem__", "__contains__", NULL};
static const char *const reading[] = {
    "sum", "min", "max", "sorted", "any", "all", "iter", "next", "repr", "list", "tuple", "set", "dict",
    "frozenset", "enumerate", "zip", "map", "filter", "reversed", "str", "print", "deque", "accumulate",
    "array", "ascii", "batched", "bytearray", "bytes", "chain", "combinations", "cycle", "defaultdict", "format",
    "fromkeys", "fsum", "groupby", "islice", "join", "pairwise", "permutations", "prod", "product", "reduce",
    "starmap", "tee", "zip_longest", "OrderedDict", NULL};
static const char *const looking[] = {"keys", "values", "items", "copy", "index", "count", NULL};
static const char *const copying_classes[] = {"list", "tuple", "dict", NULL};
static const char *const first_changed[] = {"heapify", "heappop", "heappush", "heappushpop", "heapreplace",
    "insort", "insort_left", "insort_right", NULL};

static void method(Site *self, PyObject *thing, const char *name, PyObject *given)
{
    int by_key = is_by_key(thing) && PyTuple_GET_SIZE(given) > 1;
    if (self->method != name) {
        self->method = name;
        self->does = (is_among(name, changing) ? CHANGES_ALL : 0) | (is_among(name, keyed_changes) ? CHANGES_KEY : 0)
            | (is_among(name, keyed_reads) ? READS_KEY : 0) | (strcmp(name, "append") ? 0 : APPENDS)
            | (strcmp(name, "pop") ? 0 : POPS) | (is_among(name, keeping) ? KEEPS : 0)
            | (strcmp(name, "copy") ? 0 : COPIES_ALL);
    }
    if (by_key && self->does & CHANGES_KEY)
        keyed_change(self, thing, PyTuple_GET_ITEM(given, 1));
    else if (by_key && self->does & READS_KEY)
        item(self, thing, PyTuple_GET_ITEM(given, 1), READS, NULL);
    else if (is_written(Py_TYPE(thing))) {
        if (self->does & CHANGES_ALL || is_among(name, looking))
            all_of(self, thing, self->does & CHANGES_ALL ? WRITES : READS);
    } else if (self->does & APPENDS || (self->does & POPS && PyList_Check(thing) && PyTuple_GET_SIZE(given) == 1)) {
        PyObject *last = PyLong_FromSsize_t(PyObject_Size(thing) - (self->does & POPS ? 1 : 0));
        if (last)
            touch(self->memory, thing, ITEM, last, CHANGES, self->number, NULL);
        Py_XDECREF(last);
        touch(self->memory, thing, EXTENT, NULL, CHANGES, self->number, NULL);
    } else
        all_of(self, thing, self->does & CHANGES_ALL ? CHANGES : self->does & COPIES_ALL ? copying(thing) : READS);
}

static void called(Site *self, PyObject *given)
{
    PyObject *function = PyTuple_GET_ITEM(given, 0);
    Py_ssize_t count = PyTuple_GET_SIZE(given);
    const char *name;
    if (PyCFunction_CheckExact(function)) {
        name = ((PyCFunctionObject *)function)->m_ml->ml_name;
        PyObject *owner = PyCFunction_GET_SELF(function);
        if (owner && is_container(owner)) {
            if (owner == self->memory->entries)
                return;
            method(self, owner, name, given);
            for (Py_ssize_t i = 1; i < count && !(self->does & KEEPS); i++)
                all_of(self, PyTuple_GET_ITEM(given, i), READS);
            return;
        }
        if (count > 2 && owner && PyModule_Check(owner) && PyModule_GetDict(owner) == PyEval_GetBuiltins()) {
            int how = !strcmp(name, "getattr") || !strcmp(name, "hasattr") ? READS
                : !strcmp(name, "setattr") || !strcmp(name, "delattr")     ? WRITES
                                                                           : -1;
            if (how >= 0)
                computed_attribute(self, PyTuple_GET_ITEM(given, 1), PyTuple_GET_ITEM(given, 2), how);
        }
    } else if (PyMethod_Check(function)) {
        PyObject *owner = PyMethod_GET_SELF(function), *body = PyMethod_GET_FUNCTION(function);
        if (!PyFunction_Check(body) || !is_written(Py_TYPE(owner)))
            return;
        const char *word = PyUnicode_AsUTF8(((PyFunctionObject *)body)->func_name);
        if (!word) {
            PyErr_Clear();
            return;
        }
        method(self, owner, word, given);
        self->method = NULL; /* the text is not ours */
        for (Py_ssize_t i = 1; i < count && !(self->does & KEEPS); i++)
            all_of(self, PyTuple_GET_ITEM(given, i), READS);
        return;
    } else if (PyType_Check(function))
        name = ((PyTypeObject *)function)->tp_name;
    else
        return;
    int wholly = -1;
    for (Py_ssize_t i = 1; i < count; i++) {
        PyObject *each = PyTuple_GET_ITEM(given, i);
        if (!is_container(each))
            continue;
        const char *last = strrchr(name, '.');
        name = last ? last + 1 : name;
        if (wholly < 0)
            wholly = is_among(name, reading) ? 1 : !strcmp(name, "len") ? 0 : is_among(name, first_changed) ? 3 : 2;
        if (wholly == 1)
            all_of(self, each, count == 2 && is_among(name, copying_classes) ? copying(each) : READS);
        else if (wholly == 3 && i == 1)
            all_of(self, each, CHANGES);
        else if (wholly == 0)
            extent(self, each, READS);
    }
}

static void told_alone(Site *self, PyObject *value)
{
    switch (self->kind) {
    case READ_GLOBAL:
    case DELETE_GLOBAL:
    case WRITE_GLOBAL: {
        PyObject *variables = PyEval_GetGlobals();
        int is_read = self->kind == READ_GLOBAL;
        if (variables)
            touch(self->memory, variables, NAME, self->name, is_read ? READS : WRITES, self->number,
                  self->kind == WRITE_GLOBAL ? value : NULL);
        break;
    }
    case READ_CELL:
    case DELETE_CELL:
        touch(self->memory, value, NAME, self->name, self->kind == READ_CELL ? READS : WRITES, self->number, NULL);
        break;
    case READ_ATTRIBUTE:
    case DELETE_ATTRIBUTE:
        attribute(self, value, self->kind == READ_ATTRIBUTE ? READS : WRITES, NULL);
        break;
    case CALL:
        if (PyTuple_CheckExact(value) && PyTuple_GET_SIZE(value))
            called(self, value);
        break;
    case WRITE_ITEM:
        if (PyTuple_CheckExact(value) && PyTuple_GET_SIZE(value) == 3)
            store_item(self, PyTuple_GET_ITEM(value, 1), PyTuple_GET_ITEM(value, 2), PyTuple_GET_ITEM(value, 0));
        break;
    case CALL_SPREAD:
        for (Py_ssize_t i = 1; PyTuple_CheckExact(value) && i < PyTuple_GET_SIZE(value); i++)
            all_of(self, PyTuple_GET_ITEM(value, i), READS);
        break;
    case READ_SLICE:
        all_of(self, PyTuple_GET_ITEM(value, 0), copying(PyTuple_GET_ITEM(value, 0)));
        break;
    case WRITE_SLICE:
        all_of(self, PyTuple_GET_ITEM(value, 1), CHANGES);
        break;
    case MATCH_CLASS:
        if (PyTuple_CheckExact(value) && PyTuple_GET_SIZE(value) == 3)
            matched(self, PyTuple_GET_ITEM(value, 0), PyTuple_GET_ITEM(value, 1), PyTuple_GET_ITEM(value, 2));
        break;
    case TRUTH:
        extent(self, value, READS);
        break;
    case ITERATE:
    case UNPACK:
    case FORMAT:
        all_of(self, value, READS);
    }
}

static void told_both(Site *self, PyObject *key, PyObject *value)
{
    switch (self->kind) {
    case WRITE_ATTRIBUTE:
        attribute(self, key, WRITES, value);
        break;
    case WRITE_CELL:
        touch(self->memory, key, NAME, self->name, WRITES, self->number, value);
        break;
    case READ_ITEM:
        read_item(self, value, key);
        break;
    case DELETE_ITEM:
        keyed_change(self, value, key);
        break;
    case MATCH_KEYS:
        for (Py_ssize_t i = 0; PyTuple_CheckExact(key) && i < PyTuple_GET_SIZE(key); i++)
            read_item(self, value, PyTuple_GET_ITEM(key, i));
        break;
    case CONTAINS:
        if (is_container(key) && is_variable(self, key, value, READS, NULL))
            break;
        if (is_by_key(key))
            item(self, key, value, READS, NULL);
        else
            all_of(self, key, READS);
        break;
    case BINARY:
    case COMPARE:
        all_of(self, value, self->kind == BINARY && self->more >= IN_PLACE ? CHANGES : READS);
        all_of(self, key, READS);
    }
}

static int site_assign(Site *self, PyObject *key, PyObject *value)
{
    if (!self->number || self->memory != active || self->kind == NOTHING || key == (PyObject *)self)
        return 0;
    if (value)
        told_both(self, key, value);
    else
        told_alone(self, key);
    return 0;
}

/* A global variable, or a function that begins, is told as `del site[site]`. */
static int site_assign_itself(Site *self, PyObject *key, PyObject *value)
{
    int is_global = self->kind == READ_GLOBAL || self->kind == DELETE_GLOBAL;
    if (is_global && self->number && self->memory == active && !value) {
        told_alone(self, key);
        return 0;
    }
    return site_assign(self, key, value);
}

static PyObject *quiet = NULL; /* what a site is where its code was sent to */

static PyObject *site_reduce(Site *Py_UNUSED(self), PyObject *Py_UNUSED(none))
{
    return quiet ? Py_BuildValue("(O())", quiet) : PyErr_Format(PyExc_TypeError, "cannot pickle a site");
}

static void site_dealloc(Site *self)
{
    PyObject_GC_UnTrack(self);
    Py_CLEAR(self->memory);
    Py_CLEAR(self->name);
    Py_TYPE(self)->tp_free((PyObject *)self);
}

static int site_traverse(Site *self, visitproc visit, void *arg)
{
    Py_VISIT(self->memory);
    return 0;
}

static PyMappingMethods site_mapping = {.mp_ass_subscript = (objobjargproc)site_assign_itself};
static PyMethodDef site_methods[] = {
    {"__reduce__", (PyCFunction)site_reduce, METH_NOARGS, "Where the code is sent, it tells nobody."},
    {NULL, NULL, 0, NULL},
};
static PyTypeObject site_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "possibly.recorder.sharing._shadow.Site",
    .tp_basicsize = sizeof(Site),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
    .tp_as_mapping = &site_mapping,
    .tp_methods = site_methods,
    .tp_traverse = (traverseproc)site_traverse,
    .tp_dealloc = (destructor)site_dealloc,
    .tp_doc = "Stands before one instruction.",
};

/* ---- memory ------------------------------------------------------------------------------------ */

/* site(kind, name, number, more) */
static PyObject *memory_site(Memory *self, PyObject *args)
{
    int kind, more;
    PyObject *name;
    unsigned number;
    if (!PyArg_ParseTuple(args, "iUIi", &kind, &name, &number, &more))
        return NULL;
    if (kind == READ_GLOBAL && PyDict_Contains(PyEval_GetBuiltins(), name) == 1)
        kind = NOTHING;
    Site *made = PyObject_GC_New(Site, &site_type);
    if (!made)
        return NULL;
    made->memory = (Memory *)Py_NewRef(self);
    made->name = Py_NewRef(name);
    PyUnicode_InternInPlace(&made->name);
    made->number = number;
    made->kind = kind;
    made->more = more;
    made->method = NULL;
    made->does = 0;
    PyObject_GC_Track(made);
    return (PyObject *)made;
}

static void forget_objects(Memory *self)
{
    for (size_t i = 0; self->objects.slots && i <= self->objects.mask; i++)
        if (self->objects.slots[i].key > 1)
            free_object(self->objects.slots[i].value);
    PyMem_RawFree(self->objects.slots);
    self->objects = (Map){0};
}

static PyObject *memory_forget_all(Memory *self, PyObject *Py_UNUSED(none))
{
    forget_objects(self);
    moved(self);
    Py_RETURN_NONE;
}

static PyObject *memory_stop(Memory *self, PyObject *Py_UNUSED(none))
{
    if (active == self)
        active = NULL;
    forget_objects(self);
    Py_RETURN_NONE;
}

static PyObject *memory_listener(Memory *self, PyObject *Py_UNUSED(none))
{
    self->follower = (Follower){told, self, moved};
    return PyCapsule_New(&self->follower, "possibly.follower", NULL);
}

static PyObject *memory_size(Memory *self, PyObject *Py_UNUSED(none))
{
    return PyLong_FromSize_t(self->objects.live);
}

static int read_rules(Memory *self, PyObject *rules)
{
    PyObject *number, *pair;
    Py_ssize_t at = 0;
    while (PyDict_Next(rules, &at, &number, &pair)) {
        int rule, family;
        long action = PyLong_AsLong(number);
        if (action < 0 || action > 255 || !PyArg_ParseTuple(pair, "ii", &rule, &family))
            return -1;
        self->rules[action] = (uint8_t)rule;
        self->families[action] = (uint8_t)family;
    }
    return 0;
}

/* Memory(entries, counter, rules, threads, me, local, (EXTENT, WHOLE, ANY_ITEM), quiet) */
static PyObject *memory_new(PyTypeObject *type, PyObject *args, PyObject *Py_UNUSED(named))
{
    PyObject *entries, *counter, *rules, *threads, *me, *local, *extent_, *whole, *any, *silent;
    if (!PyArg_ParseTuple(args, "O!OO!O!OO!(OOO)O", &PyList_Type, &entries, &counter, &PyDict_Type, &rules,
                          &PyDict_Type, &threads, &me, &PyType_Type, &local, &extent_, &whole, &any, &silent))
        return NULL;
    uint64_t *passed = PyCapsule_GetPointer(counter, "possibly.counter");
    Memory *self = passed ? (Memory *)type->tp_alloc(type, 0) : NULL;
    if (!self)
        return NULL;
    self->entries = Py_NewRef(entries);
    self->counter = Py_NewRef(counter);
    self->passed = passed;
    self->threads = Py_NewRef(threads);
    self->me = Py_NewRef(me);
    self->local = Py_NewRef(local);
    self->extent = Py_NewRef(extent_);
    self->whole = Py_NewRef(whole);
    self->any = Py_NewRef(any);
    Py_XSETREF(quiet, Py_NewRef(silent));
    if (read_rules(self, rules)) {
        Py_DECREF(self);
        return NULL;
    }
    active = self;
    return (PyObject *)self;
}

static int memory_traverse(Memory *self, visitproc visit, void *arg)
{
    Py_VISIT(self->entries);
    Py_VISIT(self->threads);
    Py_VISIT(self->me);
    return 0;
}

/* Clocks stay: whoever records does so until the process ends, and tests are few. */
static void memory_dealloc(Memory *self)
{
    PyObject_GC_UnTrack(self);
    if (active == self)
        active = NULL;
    forget_objects(self);
    Py_CLEAR(self->entries);
    Py_CLEAR(self->counter);
    Py_CLEAR(self->threads);
    Py_CLEAR(self->me);
    Py_CLEAR(self->local);
    Py_CLEAR(self->extent);
    Py_CLEAR(self->whole);
    Py_CLEAR(self->any);
    Py_TYPE(self)->tp_free((PyObject *)self);
}

static PyMethodDef memory_methods[] = {
    {"site", (PyCFunction)memory_site, METH_VARARGS, "A new site: kind, name, number, what else is known."},
    {"listener", (PyCFunction)memory_listener, METH_NOARGS, "Who hears of every action: a capsule."},
    {"forget_all", (PyCFunction)memory_forget_all, METH_NOARGS, "Nothing was touched yet."},
    {"stop", (PyCFunction)memory_stop, METH_NOARGS, "Sites tell nobody any more."},
    {"size", (PyCFunction)memory_size, METH_NOARGS, "How many objects are remembered."},
    {NULL, NULL, 0, NULL},
};

static PyTypeObject memory_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "possibly.recorder.sharing._shadow.Memory",
    .tp_basicsize = sizeof(Memory),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
    .tp_new = memory_new,
    .tp_methods = memory_methods,
    .tp_traverse = (traverseproc)memory_traverse,
    .tp_dealloc = (destructor)memory_dealloc,
    .tp_doc = "The shadow of what a program touches.",
};

static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT, "possibly.recorder.sharing._shadow", "The compiled twin of shadow memory.", -1,
    NULL, NULL, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit__shadow(void)
{
    if (PyType_Ready(&site_type) < 0 || PyType_Ready(&memory_type) < 0)
        return NULL;
    PyObject *made = PyModule_Create(&module);
    PyObject *collections = PyImport_ImportModule("collections");
    PyObject *found = collections ? PyObject_GetAttrString(collections, "deque") : NULL;
    Py_XDECREF(collections);
    PyObject *arrays = PyImport_ImportModule("array");
    array_type = arrays ? (PyTypeObject *)PyObject_GetAttrString(arrays, "array") : NULL;
    Py_XDECREF(arrays);
    text_keys = PyUnicode_InternFromString("keys");
    text_setitem = PyUnicode_InternFromString("__setitem__");
    text_match_args = PyUnicode_InternFromString("__match_args__");
    if (!text_keys || !text_setitem || !text_match_args)
        Py_CLEAR(made);
    if (!made || !found || !array_type || PyModule_AddObjectRef(made, "Memory", (PyObject *)&memory_type) < 0) {
        Py_XDECREF(made);
        Py_XDECREF(found);
        return NULL;
    }
    deque_type = (PyTypeObject *)found;
    plain_list = PyList_Type.tp_dealloc;
    PyList_Type.tp_dealloc = free_list;
    plain_dict = PyDict_Type.tp_dealloc;
    PyDict_Type.tp_dealloc = free_dict;
    plain_cell = PyCell_Type.tp_dealloc;
    PyCell_Type.tp_dealloc = free_cell;
    return made;
}
