/*
 * common: what the helpers say when they cannot go on, how they read numbers, and the limits that
 * they set. Each defines PROGRAM, its name, first. Not every helper uses all of it.
 */
#ifndef ACP_COMMON_H
#define ACP_COMMON_H

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { NOT_STARTED = 125, STREAMS = 3, SYS_CLOSE_RANGE = 436 /* the same on every architecture */ };

static void fail(const char *what, const char *which) {
  dprintf(2, PROGRAM ": cannot %s \"%s\": %s\n", what, which, strerror(errno));
  _exit(NOT_STARTED);
}

static void refuse(const char *what) {
  dprintf(2, PROGRAM ": %s\n", what);
  _exit(NOT_STARTED);
}

static long number(const char *text) {
  char *end;
  errno = 0;
  long value = strtol(text, &end, 10);
  if (errno != 0 || end == text || *end != '\0' || value < 0) {
    errno = EINVAL;
    fail("read the number", text);
  }
  return value;
}

static inline void set_limit(int resource, long value, const char *name) {
  if (value < 0) return;
  struct rlimit limit;
  if (getrlimit(resource, &limit) != 0) fail("read the limit", name);
  rlim_t most = limit.rlim_max < (rlim_t)value ? limit.rlim_max : (rlim_t)value; /* never raised */
  limit.rlim_cur = limit.rlim_max = most;
  if (setrlimit(resource, &limit) != 0) fail("set the limit", name);
}

/* Of what is above the standard streams only these stay; what is below 0 is none. */
static inline void close_all_but(const long *kept, int count) {
  for (unsigned int from = STREAMS;;) {
    unsigned int next = ~0U;
    for (int i = 0; i < count; i++)
      if (kept[i] >= (long)from && kept[i] < (long)next) next = (unsigned int)kept[i];
    if (next > from && syscall(SYS_CLOSE_RANGE, from, next == ~0U ? next : next - 1, 0) != 0) fail("close", "descriptors");
    if (next == ~0U) return;
    from = next + 1;
  }
}

#endif
