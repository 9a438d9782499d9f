/* capi.h: the table of functions that other modules get. Included by core/door.pxi, which tells it how many threads
 * set_num_threads asked for. */
#ifndef DMLCORE_CAPI_H
#define DMLCORE_CAPI_H

#include "include/dmlcore.h"

extern dmlcore_api dmlcore_functions;

#endif
