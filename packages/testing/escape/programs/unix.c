/* Attempts to reach something on the same machine past the network: unix VERB NAME TOKEN. */
#include "common.h"
#include <fcntl.h>
#include <linux/netlink.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

static socklen_t address_of(struct sockaddr_un *out, const char *name, int is_abstract) {
  memset(out, 0, sizeof *out);
  out->sun_family = AF_UNIX;
  size_t length = strlen(name);
  if (length > sizeof out->sun_path - 2) exit(64);
  memcpy(out->sun_path + (is_abstract ? 1 : 0), name, length);
  return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length + 1);
}

static void reach(char **a, int type, int is_abstract) {
  struct sockaddr_un address;
  socklen_t length = address_of(&address, a[0], is_abstract);
  int fd = must(socket(AF_UNIX, type, 0), "socket");
  must(connect(fd, (struct sockaddr *)&address, length), "connect");
  must((int)send(fd, a[1], strlen(a[1]), MSG_NOSIGNAL), "send");
  say("tried", "sent");
}

static void path_stream(char **a) { reach(a, SOCK_STREAM, 0); }
static void path_dgram(char **a) { reach(a, SOCK_DGRAM, 0); }
static void path_seqpacket(char **a) { reach(a, SOCK_SEQPACKET, 0); }
static void abstract_stream(char **a) { reach(a, SOCK_STREAM, 1); }
static void abstract_dgram(char **a) { reach(a, SOCK_DGRAM, 1); }
static void abstract_seqpacket(char **a) { reach(a, SOCK_SEQPACKET, 1); }

/* A pair needs no address, and a datagram socket can be aimed anew. */
static void pair(char **a, int is_abstract) {
  struct sockaddr_un address;
  socklen_t length = address_of(&address, a[0], is_abstract);
  int ends[2];
  must(socketpair(AF_UNIX, SOCK_DGRAM, 0, ends), "socketpair");
  struct sockaddr nowhere = {.sa_family = AF_UNSPEC};
  connect(ends[0], &nowhere, sizeof nowhere);
  must(connect(ends[0], (struct sockaddr *)&address, length), "connect");
  must((int)send(ends[0], a[1], strlen(a[1]), MSG_NOSIGNAL), "send");
  say("tried", "sent");
}

static void path_pair(char **a) { pair(a, 0); }
static void abstract_pair(char **a) { pair(a, 1); }

static void path_sendmsg(char **a) {
  struct sockaddr_un address;
  socklen_t length = address_of(&address, a[0], 0);
  struct iovec part = {.iov_base = a[1], .iov_len = strlen(a[1])};
  struct msghdr message = {.msg_name = &address, .msg_namelen = length, .msg_iov = &part, .msg_iovlen = 1};
  int fd = must(socket(AF_UNIX, SOCK_DGRAM, 0), "socket");
  must((int)sendmsg(fd, &message, 0), "sendmsg");
  say("tried", "sent");
}

/* Under another name: a link in the workspace, or the directory's descriptor. */
static void path_symlink(char **a) {
  char name[64];
  snprintf(name, sizeof name, "link-%d", (int)getpid());
  must(symlink(a[0], name), "symlink");
  char *as[] = {name, a[1]};
  reach(as, SOCK_STREAM, 0);
}

static void path_hardlink(char **a) {
  char name[64];
  snprintf(name, sizeof name, "hard-%d", (int)getpid());
  must(link(a[0], name), "link");
  char *as[] = {name, a[1]};
  reach(as, SOCK_STREAM, 0);
}

static void path_descriptor(char **a) {
  char name[64];
  int fd = must(open(a[0], O_PATH), "open");
  snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
  char *as[] = {name, a[1]};
  reach(as, SOCK_STREAM, 0);
}

/* Netlink's own way between two processes. */
static void netlink_user(char **a) {
  int fd = must(socket(AF_NETLINK, SOCK_RAW, NETLINK_USERSOCK), "socket");
  struct sockaddr_nl to = {.nl_family = AF_NETLINK, .nl_pid = (unsigned)atoi(a[0])};
  char buffer[NLMSG_SPACE(256)];
  memset(buffer, 0, sizeof buffer);
  struct nlmsghdr *head = (struct nlmsghdr *)buffer;
  head->nlmsg_len = NLMSG_LENGTH((unsigned)strlen(a[1]));
  head->nlmsg_type = NLMSG_MIN_TYPE;
  memcpy(NLMSG_DATA(head), a[1], strlen(a[1]));
  must((int)sendto(fd, buffer, head->nlmsg_len, 0, (struct sockaddr *)&to, sizeof to), "sendto");
  say("tried", "sent");
}

/*
 * vsock is in no network namespace and leads to the hypervisor: made only, never connected, on
 * purpose.
 */
static void vsock(int type) {
  int fd = socket(40 /* AF_VSOCK */, type, 0);
  if (fd < 0 && errno == EAFNOSUPPORT) unavailable("socket");
  if (fd < 0 && errno == ESOCKTNOSUPPORT) unavailable("socket");
  must(fd, "socket");
  close(fd);
  say("escaped", "made a vsock socket");
}

static void vsock_stream(char **a) {
  (void)a;
  vsock(SOCK_STREAM);
}

static void vsock_seqpacket(char **a) {
  (void)a;
  vsock(SOCK_SEQPACKET);
}

/* Families that have no business here, those with a way to other machines or past netfilter. */
static void families(char **a) {
  (void)a;
  static const int list[] = {3, 4, 5, 6, 9, 11, 12, 15, 20, 21, 23, 24, 29, 30, 31, 33, 34, 35, 36, 37, 39, 41, 42, 43, 44, 45};
  static const int types[] = {SOCK_STREAM, SOCK_DGRAM, SOCK_RAW, SOCK_SEQPACKET};
  char made[256] = "";
  for (size_t f = 0; f < sizeof list / sizeof *list; f++)
    for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
      int fd = socket(list[f], types[t], 0);
      if (fd < 0) continue;
      close(fd);
      size_t used = strlen(made);
      snprintf(made + used, sizeof made - used, " %d/%d", list[f], types[t]);
    }
  if (made[0] == 0) refused("socket");
  say("escaped", "made%s", made);
}

int main(int argc, char **argv) {
  static const struct verb verbs[] = {
      {"path-stream", path_stream}, {"path-dgram", path_dgram}, {"path-seqpacket", path_seqpacket}, {"path-pair", path_pair},
      {"path-sendmsg", path_sendmsg}, {"path-symlink", path_symlink}, {"path-hardlink", path_hardlink},
      {"path-descriptor", path_descriptor}, {"abstract-stream", abstract_stream}, {"abstract-dgram", abstract_dgram},
      {"abstract-seqpacket", abstract_seqpacket}, {"abstract-pair", abstract_pair}, {"netlink-user", netlink_user},
      {"vsock-stream", vsock_stream}, {"vsock-seqpacket", vsock_seqpacket}, {"families", families}, {NULL, NULL},
  };
  return run_verb(verbs, argc, argv);
}
