/*
 * Makes every flush SLOW_FLUSH_US microseconds slower, as a real disk would: fsync, fdatasync,
 * msync, and writes to files opened with O_DSYNC or O_SYNC. Loaded with LD_PRELOAD by
 * audit.bench.mjs; not part of any package.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

static void wait_a_while(void) {
  const char *text = getenv("SLOW_FLUSH_US");
  if (text != NULL) usleep((useconds_t)atoi(text));
}

static int is_synced(int fd) {
  int flags = fcntl(fd, F_GETFL);
  return flags != -1 && (flags & O_DSYNC) != 0;
}

#define REAL(name) __typeof__(&name) real = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

int fsync(int fd) { REAL(fsync); wait_a_while(); return real(fd); }
int fdatasync(int fd) { REAL(fdatasync); wait_a_while(); return real(fd); }
int msync(void *at, size_t length, int flags) {
  int (*real)(void *, size_t, int) = (int (*)(void *, size_t, int))dlsym(RTLD_NEXT, "msync");
  wait_a_while();
  return real(at, length, flags);
}
ssize_t write(int fd, const void *bytes, size_t count) { REAL(write); if (is_synced(fd)) wait_a_while(); return real(fd, bytes, count); }
ssize_t pwrite(int fd, const void *bytes, size_t count, off_t at) { REAL(pwrite); if (is_synced(fd)) wait_a_while(); return real(fd, bytes, count, at); }
ssize_t pwrite64(int fd, const void *bytes, size_t count, off64_t at) { REAL(pwrite64); if (is_synced(fd)) wait_a_while(); return real(fd, bytes, count, at); }
ssize_t writev(int fd, const struct iovec *parts, int count) { REAL(writev); if (is_synced(fd)) wait_a_while(); return real(fd, parts, count); }
ssize_t pwritev(int fd, const struct iovec *parts, int count, off_t at) { REAL(pwritev); if (is_synced(fd)) wait_a_while(); return real(fd, parts, count, at); }
