/*
 * peer: says which user is at the other end of a Unix socket.
 *
 *   peer --of FD     prints the uid that the other end had when it connected, and a newline
 *   peer --about     says that it runs here
 *
 * Node cannot ask the kernel (SO_PEERCRED of unix(7)); it can hand an open descriptor on.
 */
#define _GNU_SOURCE
#define PROGRAM "peer"
#include "common.h"
#include <sys/socket.h>

int main(int argc, char **argv) {
  if (argc == 2 && strcmp(argv[1], "--about") == 0) return puts("peer") < 0 ? NOT_STARTED : 0;
  if (argc != 3 || strcmp(argv[1], "--of") != 0) refuse("use: peer --of FD");
  struct ucred peer;
  socklen_t size = sizeof peer;
  if (getsockopt((int)number(argv[2]), SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) fail("ask who is at", argv[2]);
  /* A socket that nobody connected has no peer: the kernel then says all ones. */
  if (size != sizeof peer || peer.uid == (uid_t)-1) refuse("nobody is at the other end");
  return printf("%lu\n", (unsigned long)peer.uid) < 0 ? NOT_STARTED : 0;
}
