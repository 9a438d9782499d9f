/* Generated from the folder spec by `python -m codegen`; do not edit.
 * support.h: which data types and numbers of dimensions each tensor of each operator takes, level by level, and what the
 * validator knows of a data type. Included by core/tensor.h. */
#ifndef DMLCORE_SUPPORT_H
#define DMLCORE_SUPPORT_H

#include <stdint.h>

#define DML_CHECKS_MAX 60
#define DML_LEVELS 15
#define DML_ARRAY_DOOR DML_LEVELS            /* the row behind the levels: what the array functions take */
#define DML_EIGHT_DIMENSIONS_LEVEL 3         /* DML_FEATURE_LEVEL_3_0: the limit rises from 5 */

/* The rules of spec/tensor.yaml in its order, counted from the first. */
enum {
    DML_TENSOR_DATA_TYPE_KNOWN,
    DML_TENSOR_DIMENSION_COUNT_RANGE,
    DML_TENSOR_SIZES_NONZERO,
    DML_TENSOR_SIZES_RANGE,
    DML_TENSOR_STRIDES_COUNT,
    DML_TENSOR_STRIDES_RANGE,
    DML_TENSOR_ELEMENT_COUNT_LIMIT,
    DML_TENSOR_EXTENT_LIMIT,
    DML_TENSOR_TOTAL_TENSOR_SIZE_IN_BYTES_MINIMUM,
    DML_TENSOR_GUARANTEED_BASE_OFFSET_ALIGNMENT_VALUE,
};

/* A cell of a support table: a bit for each data type, and the range of DimensionCount. */
typedef struct {
    uint64_t data_types;
    int64_t rank_min, rank_max;
} dml_cell;

/* A data type by its value; bits == 0: no tensor can have it. */
typedef struct {
    int bits;
    int storage;                             /* enum dml_storage */
    int index;                               /* enum dml_index, or -1 */
    uint64_t zero_mask[2];                   /* the bits that tell a zero, low word first */
    const char *name;
} dml_data_type;

#define DML_DATA_TYPES 26
static const dml_data_type dml_data_types[DML_DATA_TYPES] = {
    { 0, 0, -1, {UINT64_C(0x0), UINT64_C(0x0)}, "UNKNOWN"},    /* 0 */
    { 32, 2, -1, {UINT64_C(0x7fffffff), UINT64_C(0x0)}, "FLOAT32"},    /* 1 */
    { 16, 1, -1, {UINT64_C(0x7fff), UINT64_C(0x0)}, "FLOAT16"},    /* 2 */
    { 32, 2, 2, {UINT64_C(0xffffffff), UINT64_C(0x0)}, "UINT32"},    /* 3 */
    { 16, 1, -1, {UINT64_C(0xffff), UINT64_C(0x0)}, "UINT16"},    /* 4 */
    { 8, 0, -1, {UINT64_C(0xff), UINT64_C(0x0)}, "UINT8"},    /* 5 */
    { 32, 2, 0, {UINT64_C(0xffffffff), UINT64_C(0x0)}, "INT32"},    /* 6 */
    { 16, 1, -1, {UINT64_C(0xffff), UINT64_C(0x0)}, "INT16"},    /* 7 */
    { 8, 0, -1, {UINT64_C(0xff), UINT64_C(0x0)}, "INT8"},    /* 8 */
    { 64, 3, -1, {UINT64_C(0x7fffffffffffffff), UINT64_C(0x0)}, "FLOAT64"},    /* 9 */
    { 64, 3, 3, {UINT64_C(0xffffffffffffffff), UINT64_C(0x0)}, "UINT64"},    /* 10 */
    { 64, 3, 1, {UINT64_C(0xffffffffffffffff), UINT64_C(0x0)}, "INT64"},    /* 11 */
    { 4, 0, -1, {UINT64_C(0xf), UINT64_C(0x0)}, "UINT4"},    /* 12 */
    { 4, 0, -1, {UINT64_C(0xf), UINT64_C(0x0)}, "INT4"},    /* 13 */
    { 8, 0, -1, {UINT64_C(0xff), UINT64_C(0x0)}, "BOOL"},    /* 14 */
    { 64, 3, -1, {UINT64_C(0x7fffffff7fffffff), UINT64_C(0x0)}, "COMPLEX64"},    /* 15 */
    { 128, 4, -1, {UINT64_C(0x7fffffffffffffff), UINT64_C(0x7fffffffffffffff)}, "COMPLEX128"},    /* 16 */
    { 16, 1, -1, {UINT64_C(0x7fff), UINT64_C(0x0)}, "BFLOAT16"},    /* 17 */
    { 8, 0, -1, {UINT64_C(0x7f), UINT64_C(0x0)}, "FLOAT8_E3M4"},    /* 18 */
    { 8, 0, -1, {UINT64_C(0x7f), UINT64_C(0x0)}, "FLOAT8_E4M3"},    /* 19 */
    { 8, 0, -1, {UINT64_C(0x7f), UINT64_C(0x0)}, "FLOAT8_E4M3FN"},    /* 20 */
    { 8, 0, -1, {UINT64_C(0xff), UINT64_C(0x0)}, "FLOAT8_E4M3FNUZ"},    /* 21 */
    { 8, 0, -1, {UINT64_C(0xff), UINT64_C(0x0)}, "FLOAT8_E4M3B11FNUZ"},    /* 22 */
    { 8, 0, -1, {UINT64_C(0x7f), UINT64_C(0x0)}, "FLOAT8_E5M2"},    /* 23 */
    { 8, 0, -1, {UINT64_C(0xff), UINT64_C(0x0)}, "FLOAT8_E5M2FNUZ"},    /* 24 */
    { 8, 0, -1, {UINT64_C(0x0), UINT64_C(0x0)}, "FLOAT8_E8M0FNU"},    /* 25 */
};

static const dml_cell gather_support[3][DML_ARRAY_DOOR + 1] = {
    {   /* InputTensor */
        {0x6, 4, 4},    /* FL1.0 */
        {0x6, 4, 4},    /* FL2.0 */
        {0x1fe, 4, 4},    /* FL2.1 */
        {0x1fe, 1, 8},    /* FL3.0 */
        {0x1fe, 1, 8},    /* FL3.1 */
        {0x1fe, 1, 8},    /* FL4.0 */
        {0xffe, 1, 8},    /* FL4.1 */
        {0xffe, 1, 8},    /* FL5.0 */
        {0xffe, 1, 8},    /* FL5.1 */
        {0xffe, 1, 8},    /* FL5.2 */
        {0xffe, 1, 8},    /* FL6.0 */
        {0xffe, 1, 8},    /* FL6.1 */
        {0xffe, 1, 8},    /* FL6.2 */
        {0xffe, 1, 8},    /* FL6.3 */
        {0xffe, 1, 8},    /* FL6.4 */
        {0x3ffcffe, 0, DML_RANK_MAX},    /* array functions */
    },
    {   /* IndicesTensor */
        {0x8, 4, 4},    /* FL1.0 */
        {0x8, 4, 4},    /* FL2.0 */
        {0x8, 4, 4},    /* FL2.1 */
        {0xc48, 1, 8},    /* FL3.0 */
        {0xc48, 1, 8},    /* FL3.1 */
        {0xc48, 1, 8},    /* FL4.0 */
        {0xc48, 1, 8},    /* FL4.1 */
        {0xc48, 1, 8},    /* FL5.0 */
        {0xc48, 1, 8},    /* FL5.1 */
        {0xc48, 1, 8},    /* FL5.2 */
        {0xc48, 1, 8},    /* FL6.0 */
        {0xc48, 1, 8},    /* FL6.1 */
        {0xc48, 1, 8},    /* FL6.2 */
        {0xc48, 1, 8},    /* FL6.3 */
        {0xc48, 1, 8},    /* FL6.4 */
        {0xc48, 0, DML_RANK_MAX},    /* array functions */
    },
    {   /* OutputTensor */
        {0x6, 4, 4},    /* FL1.0 */
        {0x6, 4, 4},    /* FL2.0 */
        {0x1fe, 4, 4},    /* FL2.1 */
        {0x1fe, 1, 8},    /* FL3.0 */
        {0x1fe, 1, 8},    /* FL3.1 */
        {0x1fe, 1, 8},    /* FL4.0 */
        {0xffe, 1, 8},    /* FL4.1 */
        {0xffe, 1, 8},    /* FL5.0 */
        {0xffe, 1, 8},    /* FL5.1 */
        {0xffe, 1, 8},    /* FL5.2 */
        {0xffe, 1, 8},    /* FL6.0 */
        {0xffe, 1, 8},    /* FL6.1 */
        {0xffe, 1, 8},    /* FL6.2 */
        {0xffe, 1, 8},    /* FL6.3 */
        {0xffe, 1, 8},    /* FL6.4 */
        {0x3ffcffe, 0, DML_RANK_MAX},    /* array functions */
    },
};

static const dml_cell gather_elements_support[3][DML_ARRAY_DOOR + 1] = {
    {   /* InputTensor */
        {0, 0, 0},    /* FL1.0 */
        {0, 0, 0},    /* FL2.0 */
        {0x1fe, 4, 4},    /* FL2.1 */
        {0x1fe, 1, 8},    /* FL3.0 */
        {0x1fe, 1, 8},    /* FL3.1 */
        {0x1fe, 1, 8},    /* FL4.0 */
        {0xffe, 1, 8},    /* FL4.1 */
        {0xffe, 1, 8},    /* FL5.0 */
        {0xffe, 1, 8},    /* FL5.1 */
        {0xffe, 1, 8},    /* FL5.2 */
        {0xffe, 1, 8},    /* FL6.0 */
        {0xffe, 1, 8},    /* FL6.1 */
        {0xffe, 1, 8},    /* FL6.2 */
        {0xffe, 1, 8},    /* FL6.3 */
        {0xffe, 1, 8},    /* FL6.4 */
        {0x3ffcffe, 0, DML_RANK_MAX},    /* array functions */
    },
    {   /* IndicesTensor */
        {0, 0, 0},    /* FL1.0 */
        {0, 0, 0},    /* FL2.0 */
        {0x8, 4, 4},    /* FL2.1 */
        {0xc48, 1, 8},    /* FL3.0 */
        {0xc48, 1, 8},    /* FL3.1 */
        {0xc48, 1, 8},    /* FL4.0 */
        {0xc48, 1, 8},    /* FL4.1 */
        {0xc48, 1, 8},    /* FL5.0 */
        {0xc48, 1, 8},    /* FL5.1 */
        {0xc48, 1, 8},    /* FL5.2 */
        {0xc48, 1, 8},    /* FL6.0 */
        {0xc48, 1, 8},    /* FL6.1 */
        {0xc48, 1, 8},    /* FL6.2 */
        {0xc48, 1, 8},    /* FL6.3 */
        {0xc48, 1, 8},    /* FL6.4 */
        {0xc48, 0, DML_RANK_MAX},    /* array functions */
    },
    {   /* OutputTensor */
        {0, 0, 0},    /* FL1.0 */
        {0, 0, 0},    /* FL2.0 */
        {0x1fe, 4, 4},    /* FL2.1 */
        {0x1fe, 1, 8},    /* FL3.0 */
        {0x1fe, 1, 8},    /* FL3.1 */
        {0x1fe, 1, 8},    /* FL4.0 */
        {0xffe, 1, 8},    /* FL4.1 */
        {0xffe, 1, 8},    /* FL5.0 */
        {0xffe, 1, 8},    /* FL5.1 */
        {0xffe, 1, 8},    /* FL5.2 */
        {0xffe, 1, 8},    /* FL6.0 */
        {0xffe, 1, 8},    /* FL6.1 */
        {0xffe, 1, 8},    /* FL6.2 */
        {0xffe, 1, 8},    /* FL6.3 */
        {0xffe, 1, 8},    /* FL6.4 */
        {0x3ffcffe, 0, DML_RANK_MAX},    /* array functions */
    },
};

static const dml_cell gather_nd_support[3][DML_ARRAY_DOOR + 1] = {
    {   /* InputTensor */
        {0, 0, 0},    /* FL1.0 */
        {0, 0, 0},    /* FL2.0 */
        {0x1fe, 4, 4},    /* FL2.1 */
        {0x1fe, 1, 8},    /* FL3.0 */
        {0x1fe, 1, 8},    /* FL3.1 */
        {0x1fe, 1, 8},    /* FL4.0 */
        {0xffe, 1, 8},    /* FL4.1 */
        {0xffe, 1, 8},    /* FL5.0 */
        {0xffe, 1, 8},    /* FL5.1 */
        {0xffe, 1, 8},    /* FL5.2 */
        {0xffe, 1, 8},    /* FL6.0 */
        {0xffe, 1, 8},    /* FL6.1 */
        {0xffe, 1, 8},    /* FL6.2 */
        {0xffe, 1, 8},    /* FL6.3 */
        {0xffe, 1, 8},    /* FL6.4 */
        {0x3ffcffe, 0, DML_RANK_MAX},    /* array functions */
    },
    {   /* IndicesTensor */
        {0, 0, 0},    /* FL1.0 */
        {0, 0, 0},    /* FL2.0 */
        {0x8, 4, 4},    /* FL2.1 */
        {0xc48, 1, 8},    /* FL3.0 */
        {0xc48, 1, 8},    /* FL3.1 */
        {0xc48, 1, 8},    /* FL4.0 */
        {0xc48, 1, 8},    /* FL4.1 */
        {0xc48, 1, 8},    /* FL5.0 */
        {0xc48, 1, 8},    /* FL5.1 */
        {0xc48, 1, 8},    /* FL5.2 */
        {0xc48, 1, 8},    /* FL6.0 */
        {0xc48, 1, 8},    /* FL6.1 */
        {0xc48, 1, 8},    /* FL6.2 */
        {0xc48, 1, 8},    /* FL6.3 */
        {0xc48, 1, 8},    /* FL6.4 */
        {0xc48, 0, DML_RANK_MAX},    /* array functions */
    },
    {   /* OutputTensor */
        {0, 0, 0},    /* FL1.0 */
        {0, 0, 0},    /* FL2.0 */
        {0x1fe, 4, 4},    /* FL2.1 */
        {0x1fe, 1, 8},    /* FL3.0 */
        {0x1fe, 1, 8},    /* FL3.1 */
        {0x1fe, 1, 8},    /* FL4.0 */
        {0xffe, 1, 8},    /* FL4.1 */
        {0xffe, 1, 8},    /* FL5.0 */
        {0xffe, 1, 8},    /* FL5.1 */
        {0xffe, 1, 8},    /* FL5.2 */
        {0xffe, 1, 8},    /* FL6.0 */
        {0xffe, 1, 8},    /* FL6.1 */
        {0xffe, 1, 8},    /* FL6.2 */
        {0xffe, 1, 8},    /* FL6.3 */
        {0xffe, 1, 8},    /* FL6.4 */
        {0x3ffcffe, 0, DML_RANK_MAX},    /* array functions */
    },
};

static const dml_cell gather_nd1_support[3][DML_ARRAY_DOOR + 1] = {
    {   /* InputTensor */
        {0, 0, 0},    /* FL1.0 */
        {0, 0, 0},    /* FL2.0 */
        {0, 0, 0},    /* FL2.1 */
        {0x1fe, 1, 8},    /* FL3.0 */
        {0x1fe, 1, 8},    /* FL3.1 */
        {0x1fe, 1, 8},    /* FL4.0 */
        {0xffe, 1, 8},    /* FL4.1 */
        {0xffe, 1, 8},    /* FL5.0 */
        {0xffe, 1, 8},    /* FL5.1 */
        {0xffe, 1, 8},    /* FL5.2 */
        {0xffe, 1, 8},    /* FL6.0 */
        {0xffe, 1, 8},    /* FL6.1 */
        {0xffe, 1, 8},    /* FL6.2 */
        {0xffe, 1, 8},    /* FL6.3 */
        {0xffe, 1, 8},    /* FL6.4 */
        {0x3ffcffe, 0, DML_RANK_MAX},    /* array functions */
    },
    {   /* IndicesTensor */
        {0, 0, 0},    /* FL1.0 */
        {0, 0, 0},    /* FL2.0 */
        {0, 0, 0},    /* FL2.1 */
        {0xc48, 1, 8},    /* FL3.0 */
        {0xc48, 1, 8},    /* FL3.1 */
        {0xc48, 1, 8},    /* FL4.0 */
        {0xc48, 1, 8},    /* FL4.1 */
        {0xc48, 1, 8},    /* FL5.0 */
        {0xc48, 1, 8},    /* FL5.1 */
        {0xc48, 1, 8},    /* FL5.2 */
        {0xc48, 1, 8},    /* FL6.0 */
        {0xc48, 1, 8},    /* FL6.1 */
        {0xc48, 1, 8},    /* FL6.2 */
        {0xc48, 1, 8},    /* FL6.3 */
        {0xc48, 1, 8},    /* FL6.4 */
        {0xc48, 0, DML_RANK_MAX},    /* array functions */
    },
    {   /* OutputTensor */
        {0, 0, 0},    /* FL1.0 */
        {0, 0, 0},    /* FL2.0 */
        {0, 0, 0},    /* FL2.1 */
        {0x1fe, 1, 8},    /* FL3.0 */
        {0x1fe, 1, 8},    /* FL3.1 */
        {0x1fe, 1, 8},    /* FL4.0 */
        {0xffe, 1, 8},    /* FL4.1 */
        {0xffe, 1, 8},    /* FL5.0 */
        {0xffe, 1, 8},    /* FL5.1 */
        {0xffe, 1, 8},    /* FL5.2 */
        {0xffe, 1, 8},    /* FL6.0 */
        {0xffe, 1, 8},    /* FL6.1 */
        {0xffe, 1, 8},    /* FL6.2 */
        {0xffe, 1, 8},    /* FL6.3 */
        {0xffe, 1, 8},    /* FL6.4 */
        {0x3ffcffe, 0, DML_RANK_MAX},    /* array functions */
    },
};

static const dml_cell nonzero_coordinates_support[3][DML_ARRAY_DOOR + 1] = {
    {   /* InputTensor */
        {0, 0, 0},    /* FL1.0 */
        {0, 0, 0},    /* FL2.0 */
        {0, 0, 0},    /* FL2.1 */
        {0x1fe, 4, 5},    /* FL3.0 */
        {0x1fe, 4, 5},    /* FL3.1 */
        {0x1fe, 1, 8},    /* FL4.0 */
        {0x1fe, 1, 8},    /* FL4.1 */
        {0x1fe, 1, 8},    /* FL5.0 */
        {0x1fe, 1, 8},    /* FL5.1 */
        {0x1fe, 1, 8},    /* FL5.2 */
        {0x1fe, 1, 8},    /* FL6.0 */
        {0x1fe, 1, 8},    /* FL6.1 */
        {0x1fe, 1, 8},    /* FL6.2 */
        {0x1fe, 1, 8},    /* FL6.3 */
        {0x1fe, 1, 8},    /* FL6.4 */
        {0x3ffcffe, 0, DML_RANK_MAX},    /* array functions */
    },
    {   /* OutputCountTensor */
        {0, 0, 0},    /* FL1.0 */
        {0, 0, 0},    /* FL2.0 */
        {0, 0, 0},    /* FL2.1 */
        {0x8, 4, 5},    /* FL3.0 */
        {0x8, 4, 5},    /* FL3.1 */
        {0x8, 1, 8},    /* FL4.0 */
        {0x8, 1, 8},    /* FL4.1 */
        {0x8, 1, 8},    /* FL5.0 */
        {0x8, 1, 8},    /* FL5.1 */
        {0x8, 1, 8},    /* FL5.2 */
        {0x8, 1, 8},    /* FL6.0 */
        {0x8, 1, 8},    /* FL6.1 */
        {0x8, 1, 8},    /* FL6.2 */
        {0x8, 1, 8},    /* FL6.3 */
        {0x8, 1, 8},    /* FL6.4 */
        {0x8, 0, DML_RANK_MAX},    /* array functions */
    },
    {   /* OutputCoordinatesTensor */
        {0, 0, 0},    /* FL1.0 */
        {0, 0, 0},    /* FL2.0 */
        {0, 0, 0},    /* FL2.1 */
        {0x8, 4, 5},    /* FL3.0 */
        {0x8, 4, 5},    /* FL3.1 */
        {0x8, 2, 8},    /* FL4.0 */
        {0x8, 2, 8},    /* FL4.1 */
        {0x8, 2, 8},    /* FL5.0 */
        {0x8, 2, 8},    /* FL5.1 */
        {0x8, 2, 8},    /* FL5.2 */
        {0x8, 2, 8},    /* FL6.0 */
        {0x8, 2, 8},    /* FL6.1 */
        {0x8, 2, 8},    /* FL6.2 */
        {0x8, 2, 8},    /* FL6.3 */
        {0x8, 2, 8},    /* FL6.4 */
        {0x8, 0, DML_RANK_MAX},    /* array functions */
    },
};

static const dml_cell scatter_elements_support[4][DML_ARRAY_DOOR + 1] = {
    {   /* InputTensor */
        {0, 0, 0},    /* FL1.0 */
        {0x6, 4, 4},    /* FL2.0 */
        {0x1fe, 4, 4},    /* FL2.1 */
        {0x1fe, 1, 8},    /* FL3.0 */
        {0x1fe, 1, 8},    /* FL3.1 */
        {0x1fe, 1, 8},    /* FL4.0 */
        {0xffe, 1, 8},    /* FL4.1 */
        {0xffe, 1, 8},    /* FL5.0 */
        {0xffe, 1, 8},    /* FL5.1 */
        {0xffe, 1, 8},    /* FL5.2 */
        {0xffe, 1, 8},    /* FL6.0 */
        {0xffe, 1, 8},    /* FL6.1 */
        {0xffe, 1, 8},    /* FL6.2 */
        {0xffe, 1, 8},    /* FL6.3 */
        {0xffe, 1, 8},    /* FL6.4 */
        {0x3ffcffe, 0, DML_RANK_MAX},    /* array functions */
    },
    {   /* IndicesTensor */
        {0, 0, 0},    /* FL1.0 */
        {0x8, 4, 4},    /* FL2.0 */
        {0x8, 4, 4},    /* FL2.1 */
        {0xc48, 1, 8},    /* FL3.0 */
        {0xc48, 1, 8},    /* FL3.1 */
        {0xc48, 1, 8},    /* FL4.0 */
        {0xc48, 1, 8},    /* FL4.1 */
        {0xc48, 1, 8},    /* FL5.0 */
        {0xc48, 1, 8},    /* FL5.1 */
        {0xc48, 1, 8},    /* FL5.2 */
        {0xc48, 1, 8},    /* FL6.0 */
        {0xc48, 1, 8},    /* FL6.1 */
        {0xc48, 1, 8},    /* FL6.2 */
        {0xc48, 1, 8},    /* FL6.3 */
        {0xc48, 1, 8},    /* FL6.4 */
        {0xc48, 0, DML_RANK_MAX},    /* array functions */
    },
    {   /* UpdatesTensor */
        {0, 0, 0},    /* FL1.0 */
        {0x6, 4, 4},    /* FL2.0 */
        {0x1fe, 4, 4},    /* FL2.1 */
        {0x1fe, 1, 8},    /* FL3.0 */
        {0x1fe, 1, 8},    /* FL3.1 */
        {0x1fe, 1, 8},    /* FL4.0 */
        {0xffe, 1, 8},    /* FL4.1 */
        {0xffe, 1, 8},    /* FL5.0 */
        {0xffe, 1, 8},    /* FL5.1 */
        {0xffe, 1, 8},    /* FL5.2 */
        {0xffe, 1, 8},    /* FL6.0 */
        {0xffe, 1, 8},    /* FL6.1 */
        {0xffe, 1, 8},    /* FL6.2 */
        {0xffe, 1, 8},    /* FL6.3 */
        {0xffe, 1, 8},    /* FL6.4 */
        {0x3ffcffe, 0, DML_RANK_MAX},    /* array functions */
    },
    {   /* OutputTensor */
        {0, 0, 0},    /* FL1.0 */
        {0x6, 4, 4},    /* FL2.0 */
        {0x1fe, 4, 4},    /* FL2.1 */
        {0x1fe, 1, 8},    /* FL3.0 */
        {0x1fe, 1, 8},    /* FL3.1 */
        {0x1fe, 1, 8},    /* FL4.0 */
        {0xffe, 1, 8},    /* FL4.1 */
        {0xffe, 1, 8},    /* FL5.0 */
        {0xffe, 1, 8},    /* FL5.1 */
        {0xffe, 1, 8},    /* FL5.2 */
        {0xffe, 1, 8},    /* FL6.0 */
        {0xffe, 1, 8},    /* FL6.1 */
        {0xffe, 1, 8},    /* FL6.2 */
        {0xffe, 1, 8},    /* FL6.3 */
        {0xffe, 1, 8},    /* FL6.4 */
        {0x3ffcffe, 0, DML_RANK_MAX},    /* array functions */
    },
};

static const dml_cell scatter_nd_support[4][DML_ARRAY_DOOR + 1] = {
    {   /* InputTensor */
        {0, 0, 0},    /* FL1.0 */
        {0, 0, 0},    /* FL2.0 */
        {0x1fe, 4, 4},    /* FL2.1 */
        {0x1fe, 1, 8},    /* FL3.0 */
        {0x1fe, 1, 8},    /* FL3.1 */
        {0x1fe, 1, 8},    /* FL4.0 */
        {0xffe, 1, 8},    /* FL4.1 */
        {0xffe, 1, 8},    /* FL5.0 */
        {0xffe, 1, 8},    /* FL5.1 */
        {0xffe, 1, 8},    /* FL5.2 */
        {0xffe, 1, 8},    /* FL6.0 */
        {0xffe, 1, 8},    /* FL6.1 */
        {0xffe, 1, 8},    /* FL6.2 */
        {0xffe, 1, 8},    /* FL6.3 */
        {0xffe, 1, 8},    /* FL6.4 */
        {0x3ffcffe, 0, DML_RANK_MAX},    /* array functions */
    },
    {   /* IndicesTensor */
        {0, 0, 0},    /* FL1.0 */
        {0, 0, 0},    /* FL2.0 */
        {0x8, 4, 4},    /* FL2.1 */
        {0xc48, 1, 8},    /* FL3.0 */
        {0xc48, 1, 8},    /* FL3.1 */
        {0xc48, 1, 8},    /* FL4.0 */
        {0xc48, 1, 8},    /* FL4.1 */
        {0xc48, 1, 8},    /* FL5.0 */
        {0xc48, 1, 8},    /* FL5.1 */
        {0xc48, 1, 8},    /* FL5.2 */
        {0xc48, 1, 8},    /* FL6.0 */
        {0xc48, 1, 8},    /* FL6.1 */
        {0xc48, 1, 8},    /* FL6.2 */
        {0xc48, 1, 8},    /* FL6.3 */
        {0xc48, 1, 8},    /* FL6.4 */
        {0xc48, 0, DML_RANK_MAX},    /* array functions */
    },
    {   /* UpdatesTensor */
        {0, 0, 0},    /* FL1.0 */
        {0, 0, 0},    /* FL2.0 */
        {0x1fe, 4, 4},    /* FL2.1 */
        {0x1fe, 1, 8},    /* FL3.0 */
        {0x1fe, 1, 8},    /* FL3.1 */
        {0x1fe, 1, 8},    /* FL4.0 */
        {0xffe, 1, 8},    /* FL4.1 */
        {0xffe, 1, 8},    /* FL5.0 */
        {0xffe, 1, 8},    /* FL5.1 */
        {0xffe, 1, 8},    /* FL5.2 */
        {0xffe, 1, 8},    /* FL6.0 */
        {0xffe, 1, 8},    /* FL6.1 */
        {0xffe, 1, 8},    /* FL6.2 */
        {0xffe, 1, 8},    /* FL6.3 */
        {0xffe, 1, 8},    /* FL6.4 */
        {0x3ffcffe, 0, DML_RANK_MAX},    /* array functions */
    },
    {   /* OutputTensor */
        {0, 0, 0},    /* FL1.0 */
        {0, 0, 0},    /* FL2.0 */
        {0x1fe, 4, 4},    /* FL2.1 */
        {0x1fe, 1, 8},    /* FL3.0 */
        {0x1fe, 1, 8},    /* FL3.1 */
        {0x1fe, 1, 8},    /* FL4.0 */
        {0xffe, 1, 8},    /* FL4.1 */
        {0xffe, 1, 8},    /* FL5.0 */
        {0xffe, 1, 8},    /* FL5.1 */
        {0xffe, 1, 8},    /* FL5.2 */
        {0xffe, 1, 8},    /* FL6.0 */
        {0xffe, 1, 8},    /* FL6.1 */
        {0xffe, 1, 8},    /* FL6.2 */
        {0xffe, 1, 8},    /* FL6.3 */
        {0xffe, 1, 8},    /* FL6.4 */
        {0x3ffcffe, 0, DML_RANK_MAX},    /* array functions */
    },
};

#endif
