/*
 * Starts a program with two descriptors that somebody forgot to close: leak FILE ADDRESS PORT
 * PROGRAM...
 */
#include "common.h"
#include <arpa/inet.h>
#include <fcntl.h>
#include <sys/socket.h>

/*
 * High and apart, as a shell's own are: a run-time that closes the low ones does not come this far.
 */
enum { FILE_DESCRIPTOR = 201, SOCKET_DESCRIPTOR = 203 };

int main(int argc, char **argv) {
  if (argc < 5) return 64;
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((unsigned short)atoi(argv[3])), .sin_addr.s_addr = inet_addr(argv[2])};
  int file = must(open(argv[1], O_RDONLY), "open"), fd = must(socket(AF_INET, SOCK_STREAM, 0), "socket");
  must(connect(fd, (struct sockaddr *)&address, sizeof address), "connect");
  must(dup2(file, FILE_DESCRIPTOR), "dup2");
  must(dup2(fd, SOCKET_DESCRIPTOR), "dup2");
  close(file);
  close(fd);
  execvp(argv[4], argv + 4);
  refused("execvp");
}
