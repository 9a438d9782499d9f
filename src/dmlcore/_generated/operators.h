/* Generated from the folder spec/operators by `python -m codegen`; do not edit.
 * operators.h: the operators, and which way each moves. Included by core/dispatch.h. */
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

#endif
