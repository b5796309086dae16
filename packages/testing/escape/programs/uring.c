/* The same through io_uring, whose operations pass no system call filter: uring VERB ... */
#include "common.h"
#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/io_uring.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>

static int ring;
static struct io_uring_params parameters;
static unsigned char *submission, *completion;
static struct io_uring_sqe *entries;

static void *map(size_t size, off_t offset) {
  void *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, ring, offset);
  if (at == MAP_FAILED) refused("mmap");
  return at;
}

static void set_up(void) {
  ring = (int)syscall(SYS_io_uring_setup, 4, &parameters);
  must(ring, "io_uring_setup");
  submission = map(parameters.sq_off.array + parameters.sq_entries * sizeof(unsigned), IORING_OFF_SQ_RING);
  completion = map(parameters.cq_off.cqes + parameters.cq_entries * sizeof(struct io_uring_cqe), IORING_OFF_CQ_RING);
  entries = map(parameters.sq_entries * sizeof(struct io_uring_sqe), IORING_OFF_SQES);
}

static unsigned *in(unsigned char *at, unsigned offset) { return (unsigned *)(void *)(at + offset); }

/* Runs one operation to its end. */
static int operate(struct io_uring_sqe operation, const char *what) {
  unsigned tail = *in(submission, parameters.sq_off.tail), slot = tail & *in(submission, parameters.sq_off.ring_mask);
  entries[slot] = operation;
  in(submission, parameters.sq_off.array)[slot] = slot;
  __atomic_store_n(in(submission, parameters.sq_off.tail), tail + 1, __ATOMIC_RELEASE);
  must((int)syscall(SYS_io_uring_enter, ring, 1, 1, IORING_ENTER_GETEVENTS, NULL, 0), "io_uring_enter");
  unsigned head = *in(completion, parameters.cq_off.head);
  struct io_uring_cqe *all = (struct io_uring_cqe *)(void *)(completion + parameters.cq_off.cqes);
  int result = all[head & *in(completion, parameters.cq_off.ring_mask)].res;
  __atomic_store_n(in(completion, parameters.cq_off.head), head + 1, __ATOMIC_RELEASE);
  if (result < 0) {
    errno = -result;
    refused(what);
  }
  return result;
}

static void reach(int family, const void *address, size_t length, const char *token) {
  set_up();
  struct io_uring_sqe make = {.opcode = IORING_OP_SOCKET, .fd = family, .off = SOCK_STREAM};
  int fd = operate(make, "socket");
  struct io_uring_sqe to = {.opcode = IORING_OP_CONNECT, .fd = fd, .addr = (unsigned long)address, .off = length};
  operate(to, "connect");
  struct io_uring_sqe out = {.opcode = IORING_OP_SEND, .fd = fd, .addr = (unsigned long)token, .len = (unsigned)strlen(token)};
  operate(out, "send");
  say("tried", "sent");
}

static void setup(char **a) {
  (void)a;
  set_up();
  say("escaped", "made a ring");
}

static void tcp(char **a) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((unsigned short)atoi(a[1])), .sin_addr.s_addr = inet_addr(a[0])};
  reach(AF_INET, &address, sizeof address, a[2]);
}

static void path(char **a) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  strncpy(address.sun_path, a[0], sizeof address.sun_path - 1);
  reach(AF_UNIX, &address, offsetof(struct sockaddr_un, sun_path) + strlen(a[0]) + 1, a[1]);
}

static void file(char **a) {
  static char text[256];
  set_up();
  struct io_uring_sqe look = {.opcode = IORING_OP_OPENAT, .fd = AT_FDCWD, .addr = (unsigned long)a[0], .open_flags = O_RDONLY};
  int fd = operate(look, "openat");
  struct io_uring_sqe get = {.opcode = IORING_OP_READ, .fd = fd, .addr = (unsigned long)text, .len = sizeof text - 1};
  operate(get, "read");
  say("escaped", "%s", text);
}

int main(int argc, char **argv) {
  static const struct verb verbs[] = {{"setup", setup}, {"tcp", tcp}, {"path", path}, {"file", file}, {NULL, NULL}};
  return run_verb(verbs, argc, argv);
}
