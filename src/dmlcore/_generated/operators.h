/* Generated from the folder spec/operators by `python -m codegen`; do not edit.
 * operators.h: the operators, which way each moves, and the data types with arithmetic. Included by core/dispatch.h and capi.c. */
#ifndef DMLCORE_OPERATORS_H
#define DMLCORE_OPERATORS_H

enum dml_operator {
    DML_OP_GATHER,
    DML_OP_GATHER_ELEMENTS,
    DML_OP_GATHER_ND,
    DML_OP_GATHER_ND1,
    DML_OP_NONZERO_COORDINATES,
    DML_OP_SCATTER_ELEMENTS,
    DML_OP_SCATTER_ND,
    DML_OPERATORS
};

/* A gather's table is an input, a scatter's table the output. */
enum dml_kind { DML_KIND_GATHER, DML_KIND_SCATTER, DML_KIND_NONZERO };

static const unsigned char dml_kinds[DML_OPERATORS] = {
    [DML_OP_GATHER] = DML_KIND_GATHER,
    [DML_OP_GATHER_ELEMENTS] = DML_KIND_GATHER,
    [DML_OP_GATHER_ND] = DML_KIND_GATHER,
    [DML_OP_GATHER_ND1] = DML_KIND_GATHER,
    [DML_OP_NONZERO_COORDINATES] = DML_KIND_NONZERO,
    [DML_OP_SCATTER_ELEMENTS] = DML_KIND_SCATTER,
    [DML_OP_SCATTER_ND] = DML_KIND_SCATTER,
};

/* DML_TENSOR_DATA_TYPE, of the types with arithmetic; UNKNOWN, 0, has none. */
enum dml_number {
    DML_FLOAT32 = 1,
    DML_FLOAT16 = 2,
    DML_UINT32 = 3,
    DML_UINT16 = 4,
    DML_UINT8 = 5,
    DML_INT32 = 6,
    DML_INT16 = 7,
    DML_INT8 = 8,
    DML_FLOAT64 = 9,
    DML_UINT64 = 10,
    DML_INT64 = 11,
    DML_NUMBERS
};

#endif
