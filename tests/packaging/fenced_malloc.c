/* fenced_malloc.c: stands in for malloc and free: a page that nobody may touch follows each block of fenced_from bytes and more. Loaded before
 * the C library (LD_PRELOAD) by test_fenced_scratch.py. */
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>

#define BLOCKS 64
#define PAGE 4096

extern void *__libc_malloc(size_t);
extern void __libc_free(void *);

volatile size_t fenced_from = SIZE_MAX;
volatile int fenced; /* blocks so far */
static struct {
    char *block, *pages;
    size_t bytes;
} blocks[BLOCKS];

void *malloc(size_t bytes)
{
    for (int k = 0; bytes >= fenced_from && k < BLOCKS; k++) {
        char *none = NULL;
        if (!__atomic_compare_exchange_n(&blocks[k].pages, &none, (char *)1, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
            continue;
        size_t aligned = (bytes + 15) / 16 * 16, room = (aligned + PAGE - 1) / PAGE * PAGE;
        char *pages = mmap(NULL, room + PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        mprotect(pages + room, PAGE, PROT_NONE);
        blocks[k].bytes = room + PAGE;
        blocks[k].block = pages + room - aligned;
        blocks[k].pages = pages;
        fenced++;
        return blocks[k].block;
    }
    return __libc_malloc(bytes);
}

void free(void *block)
{
    for (int k = 0; block && k < BLOCKS; k++)
        if (blocks[k].block == block) {
            munmap(blocks[k].pages, blocks[k].bytes);
            blocks[k].block = NULL;
            blocks[k].pages = NULL;
            return;
        }
    __libc_free(block);
}
