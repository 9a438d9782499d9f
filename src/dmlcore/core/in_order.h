/* in_order.h: the elements of a tensor that lies any way in memory, in their order, some at a time (in_order.c). Included by what reads
 * elements one after the other. */
#ifndef DMLCORE_IN_ORDER_H
#define DMLCORE_IN_ORDER_H

#include "kernel.h"

typedef struct {
    const char *from;
    int64_t width;
    int dense; /* they follow each other where they are */
    int rank; /* dimensions, those joined that are one */
    int64_t size[DML_RANK_MAX + 1], stride[DML_RANK_MAX + 1];
    int64_t inside[DML_RANK_MAX + 1]; /* elements of one step */
} dml_in_order;

void dml_in_order_of(dml_in_order *elements, const char *from, dml_list sizes, dml_list strides, int64_t width);

/* Copies elements number at .. at + count - 1. */
void dml_put_in_order(const dml_in_order *elements, int64_t at, int64_t count, char *to);

#endif
