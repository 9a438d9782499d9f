/* dmlcore.h: dmlcore's loops for C, C++ and Cython, without Python objects.
 *
 *     #include <Python.h>
 *     #include "dmlcore.h"                              compiled with -I$(python -c "import dmlcore; print(dmlcore.get_include())")
 *
 *     const dmlcore_api *dml = dmlcore_import();        once, with the GIL held; NULL: a Python exception is set
 *     int status = dml->gather(&move, &run);            from any thread, with or without the GIL
 *
 * A dml_move, a dml_run and a dml_nonzero are described in core/kernel.h. Fill them with zeros first (`dml_run run = {0};`),
 * then set what is needed. docs/c_api.md has examples and says what stays stable. */
#ifndef DMLCORE_H
#define DMLCORE_H

#include "../core/kernel.h"

/* Another major number: structs or meanings changed, programs must be compiled again. A higher minor number: functions were
 * added at the end of dmlcore_api. */
#define DMLCORE_API_MAJOR 1
#define DMLCORE_API_MINOR 0

/* Besides enum dml_status: what was asked for cannot be run. Nothing has been read or written. */
#define DMLCORE_INVALID (-1)

/* What a dml_run and a dml_nonzero need to know of a data type. */
typedef struct {
    int value;               /* for dml_run.data_type; DML_TENSOR_DATA_TYPE's value where DirectML has the type */
    int bits;                /* of one element */
    int storage;             /* for dml_run.storage */
    int index;               /* for dml_run.index; -1: coordinates cannot have this type */
    uint64_t zero_mask[2];   /* for dml_nonzero.mask; {0, 0}: the type has no zero, so every element is found */
} dmlcore_data_type;

typedef struct {
    int major, minor;        /* DMLCORE_API_MAJOR and DMLCORE_API_MINOR of the installed library */

    /* A data type by its name in the specification: "FLOAT32", "INT64", "BOOL", "BFLOAT16"; a NumPy dtype's name in capitals
     * works. 0, or DMLCORE_INVALID for a name that is not known or a type of less than a byte. */
    int (*find_data_type)(const char *name, dmlcore_data_type *answer);

    /* Move slices from the table to the stream (gather), from the stream to the table (scatter). All the indexing operators
     * are such moves: which one depends on the dimensions and strides alone. A gather takes the modes DML_RAISE, DML_CLIP
     * and DML_FILL, a scatter DML_RAISE and DML_DROP. run->threads == 0 means as many as get_num_threads() says.
     * Every index is checked before it is used; sizes, strides and pointers are the caller's responsibility, and so is that
     * what is written shares no memory with what is read (a scatter in place, with source == NULL, is fine), and that every
     * place of a scatter's table belongs to one set of coordinates and of positions along the dimensions with a table stride
     * (no sliding windows): only those meet, in order, that name the same place. */
    int (*gather)(const dml_move *move, dml_run *run);
    int (*scatter)(const dml_move *move, dml_run *run);

    /* Coordinates of non-zero elements: count, then write as many rows, then free (also after a failure of write). */
    int (*nonzero_count)(dml_nonzero *nonzero, dml_run *run);
    int (*nonzero_write)(dml_nonzero *nonzero, dml_run *run);
    void (*nonzero_free)(dml_nonzero *nonzero);

    int (*get_num_threads)(void); /* as dmlcore.get_num_threads() */
    const char *(*isa_name)(void); /* "baseline", "avx2", "avx512", "avx512-zen5", "avx512-gathers", "avx512-granite" */
} dmlcore_api;

#define DMLCORE_CAPSULE "dmlcore._generated.operators._C_API"

#ifdef Py_PYTHON_H
/* The functions of the installed dmlcore, or NULL with an exception set: ImportError when dmlcore is missing or does not fit
 * the version of this header. They stay valid until the process ends. */
static inline const dmlcore_api *dmlcore_import(void)
{
    const dmlcore_api *api = (const dmlcore_api *)PyCapsule_Import(DMLCORE_CAPSULE, 0);
    if (api && (api->major != DMLCORE_API_MAJOR || api->minor < DMLCORE_API_MINOR)) {
        PyErr_Format(PyExc_ImportError,
                     "this module was compiled for version %d.%d of dmlcore's C interface, the installed dmlcore has %d.%d; %s",
                     DMLCORE_API_MAJOR, DMLCORE_API_MINOR, api->major, api->minor,
                     api->major > DMLCORE_API_MAJOR ? "compile the module again" : "install a newer dmlcore");
        return NULL;
    }
    return api;
}
#endif

#endif
