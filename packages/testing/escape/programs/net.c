/*
 * Attempts to reach an address: net VERB ADDRESS PORT TOKEN [MORE]. Built with shared libraries,
 * without them, and for i386.
 */
#include "common.h"
#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/if_ether.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/icmp6.h>
#include <netinet/ip.h>
#include <netinet/ip_icmp.h>
#include <netinet/tcp.h>
#include <netpacket/packet.h>
#include <pthread.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>

#ifndef IPPROTO_MPTCP
#define IPPROTO_MPTCP 262
#endif
#ifndef IPPROTO_UDPLITE
#define IPPROTO_UDPLITE 136
#endif
#ifndef TCP_FASTOPEN_CONNECT
#define TCP_FASTOPEN_CONNECT 30
#endif

struct place {
  struct sockaddr_storage address;
  socklen_t length;
  int family;
};

static struct place place_of(const char *address, const char *port) {
  struct place place;
  memset(&place, 0, sizeof place);
  struct sockaddr_in *v4 = (struct sockaddr_in *)&place.address;
  struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)&place.address;
  if (inet_pton(AF_INET, address, &v4->sin_addr) == 1) {
    v4->sin_family = AF_INET;
    v4->sin_port = htons((unsigned short)atoi(port));
    place.length = sizeof *v4;
  } else {
    if (inet_pton(AF_INET6, address, &v6->sin6_addr) != 1) exit(64);
    v6->sin6_family = AF_INET6;
    v6->sin6_port = htons((unsigned short)atoi(port));
    place.length = sizeof *v6;
  }
  place.family = place.address.ss_family;
  return place;
}

static int open_socket(int family, int type, int protocol) {
  int fd = socket(family, type, protocol);
  if (fd < 0 && (errno == EPROTONOSUPPORT || errno == ESOCKTNOSUPPORT)) unavailable("socket");
  must(fd, "socket");
  /* A connection that is dropped and not refused must not hold the kit up. */
  struct timeval patience = {.tv_sec = 1};
  setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  return fd;
}

static int connect_to(int fd, const struct place *place) { return connect(fd, (const struct sockaddr *)&place->address, place->length); }

static void send_token(int fd, const char *token) {
  must((int)send(fd, token, strlen(token), MSG_NOSIGNAL), "send");
  close(fd);
  say("tried", "sent");
}

static void stream(char **a, int protocol) {
  struct place place = place_of(a[0], a[1]);
  int fd = open_socket(place.family, SOCK_STREAM, protocol);
  must(connect_to(fd, &place), "connect");
  send_token(fd, a[2]);
}

static void tcp(char **a) { stream(a, 0); }
static void mptcp(char **a) { stream(a, IPPROTO_MPTCP); }
static void sctp(char **a) { stream(a, IPPROTO_SCTP); }

/* By number and not through the library's functions. */
static void tcp_syscall(char **a) {
  struct place place = place_of(a[0], a[1]);
#ifdef SYS_socket
  int fd = must((int)syscall(SYS_socket, place.family, SOCK_STREAM, 0), "socket");
  must((int)syscall(SYS_connect, fd, &place.address, place.length), "connect");
  must((int)syscall(SYS_sendto, fd, a[2], strlen(a[2]), MSG_NOSIGNAL, NULL, 0), "sendto");
  say("tried", "sent");
#else
  stream(a, 0);
#endif
}

/* From an address and port of its own choice. */
static void tcp_bound(char **a) {
  struct place place = place_of(a[0], a[1]), own = place_of(a[3], "0");
  int fd = open_socket(place.family, SOCK_STREAM, 0);
  must(bind(fd, (struct sockaddr *)&own.address, own.length), "bind");
  must(connect_to(fd, &place), "connect");
  send_token(fd, a[2]);
}

/* A socket that was let through once is dissolved and aimed anew. */
static void tcp_again(char **a) {
  struct place place = place_of(a[0], a[1]), first = place_of("127.0.0.1", a[3]);
  struct sockaddr nowhere = {.sa_family = AF_UNSPEC};
  int fd = open_socket(AF_INET, SOCK_STREAM, 0);
  connect_to(fd, &first);
  connect(fd, &nowhere, sizeof nowhere);
  must(connect_to(fd, &place), "connect");
  send_token(fd, a[2]);
}

static void fastopen(char **a) {
  struct place place = place_of(a[0], a[1]);
  int fd = open_socket(place.family, SOCK_STREAM, 0);
  must((int)sendto(fd, a[2], strlen(a[2]), MSG_FASTOPEN | MSG_NOSIGNAL, (struct sockaddr *)&place.address, place.length), "sendto");
  say("tried", "sent");
}

static void fastopen_connect(char **a) {
  struct place place = place_of(a[0], a[1]);
  int fd = open_socket(place.family, SOCK_STREAM, 0), on = 1;
  must(setsockopt(fd, IPPROTO_TCP, TCP_FASTOPEN_CONNECT, &on, sizeof on), "setsockopt");
  must(connect_to(fd, &place), "connect");
  send_token(fd, a[2]);
}

/* The address changes between a checker's look and the kernel's. */
static struct place swapped;
static struct place harmless, wanted;
static void *swap(void *stop) {
  while (!*(volatile int *)stop) {
    memcpy(&swapped, &harmless, sizeof swapped);
    memcpy(&swapped, &wanted, sizeof swapped);
  }
  return NULL;
}

static void toctou(char **a) {
  wanted = place_of(a[0], a[1]);
  harmless = place_of("127.0.0.1", a[3]);
  swapped = harmless;
  static volatile int stop = 0;
  pthread_t thread;
  if (pthread_create(&thread, NULL, swap, (void *)&stop) != 0) refused("pthread_create");
  struct timeval short_patience = {.tv_usec = 50 * 1000};
  time_t start = time(NULL);
  for (int i = 0; i < 1000 && time(NULL) - start < 2; i++) {
    int fd = open_socket(AF_INET, SOCK_STREAM, 0);
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &short_patience, sizeof short_patience);
    struct sockaddr_in peer;
    socklen_t length = sizeof peer;
    if (connect_to(fd, &swapped) == 0 && getpeername(fd, (struct sockaddr *)&peer, &length) == 0 &&
        peer.sin_addr.s_addr == ((struct sockaddr_in *)&wanted.address)->sin_addr.s_addr) {
      send_token(fd, a[2]);
      exit(0);
    }
    close(fd);
  }
  say("refused", "connect: never let through");
  exit(0);
}

/* Data is left queued on a socket that nobody holds any more. */
static void orphan(char **a) {
  struct place place = place_of(a[0], a[1]);
  int fd = open_socket(place.family, SOCK_STREAM, 0), on = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_CORK, &on, sizeof on);
  must(connect_to(fd, &place), "connect");
  must((int)send(fd, a[2], strlen(a[2]), MSG_NOSIGNAL), "send");
  say("tried", "left behind");
  _exit(0);
}

static void datagram(char **a, int protocol) {
  struct place place = place_of(a[0], a[1]);
  int fd = open_socket(place.family, SOCK_DGRAM, protocol);
  must((int)sendto(fd, a[2], strlen(a[2]), 0, (struct sockaddr *)&place.address, place.length), "sendto");
  say("tried", "sent");
}

static void udp(char **a) { datagram(a, 0); }
static void udplite(char **a) { datagram(a, IPPROTO_UDPLITE); }

static void udp_connected(char **a) {
  struct place place = place_of(a[0], a[1]);
  int fd = open_socket(place.family, SOCK_DGRAM, 0);
  must(connect_to(fd, &place), "connect");
  send_token(fd, a[2]);
}

static void udp_many(char **a) {
  struct place place = place_of(a[0], a[1]);
  int fd = open_socket(place.family, SOCK_DGRAM, 0);
  struct iovec part = {.iov_base = a[2], .iov_len = strlen(a[2])};
  struct mmsghdr message;
  memset(&message, 0, sizeof message);
  message.msg_hdr.msg_name = &place.address;
  message.msg_hdr.msg_namelen = place.length;
  message.msg_hdr.msg_iov = &part;
  message.msg_hdr.msg_iovlen = 1;
  must(sendmmsg(fd, &message, 1, 0), "sendmmsg");
  say("tried", "sent");
}

/* To everybody on the link; the third argument names the interface for IPv6. */
static void udp_group(char **a) {
  struct place place = place_of(a[0], a[1]);
  int fd = open_socket(place.family, SOCK_DGRAM, 0), on = 1;
  must(setsockopt(fd, SOL_SOCKET, SO_BROADCAST, &on, sizeof on), "setsockopt");
  if (place.family == AF_INET6) {
    struct if_nameindex *all = if_nameindex();
    unsigned index = 0;
    for (struct if_nameindex *each = all; each != NULL && each->if_name != NULL; each++)
      if (strcmp(each->if_name, "lo") != 0 && index == 0) index = each->if_index;
    ((struct sockaddr_in6 *)&place.address)->sin6_scope_id = index;
  }
  must((int)sendto(fd, a[2], strlen(a[2]), 0, (struct sockaddr *)&place.address, place.length), "sendto");
  say("tried", "sent");
}

/* A question for TOKEN.exfil.test, as a resolver would send it. */
static size_t question(unsigned char *out, const char *token) {
  const unsigned char head[12] = {0x12, 0x34, 1, 0, 0, 1};
  const unsigned char tail[] = {5, 'e', 'x', 'f', 'i', 'l', 4, 't', 'e', 's', 't', 0, 0, 1, 0, 1};
  size_t length = strlen(token);
  memcpy(out, head, sizeof head);
  out[12] = (unsigned char)length;
  memcpy(out + 13, token, length);
  memcpy(out + 13 + length, tail, sizeof tail);
  return 13 + length + sizeof tail;
}

static void dns(char **a) {
  unsigned char query[512];
  size_t length = question(query, a[2]);
  struct place place = place_of(a[0], a[1]);
  int fd = open_socket(place.family, SOCK_DGRAM, 0);
  must((int)sendto(fd, query, length, 0, (struct sockaddr *)&place.address, place.length), "sendto");
  say("tried", "sent");
}

static void dns_tcp(char **a) {
  unsigned char query[514];
  size_t length = question(query + 2, a[2]);
  query[0] = 0;
  query[1] = (unsigned char)length;
  struct place place = place_of(a[0], a[1]);
  int fd = open_socket(place.family, SOCK_STREAM, 0);
  must(connect_to(fd, &place), "connect");
  must((int)send(fd, query, length + 2, MSG_NOSIGNAL), "send");
  say("tried", "sent");
}

#ifndef STATIC_BUILD
static void resolver(char **a) {
  char name[128];
  snprintf(name, sizeof name, "%s.exfil.test", a[2]);
  struct addrinfo *found = NULL;
  int error = getaddrinfo(name, NULL, NULL, &found);
  say(error == 0 ? "escaped" : "tried", "getaddrinfo: %s", error == 0 ? "answered" : gai_strerror(error));
}
#endif

/*
 * An echo request with the token in it; the type of socket decides what the caller must be allowed
 * to.
 */
static void echo(char **a, int type) {
  struct place place = place_of(a[0], "0");
  unsigned char packet[128] = {(unsigned char)(place.family == AF_INET ? ICMP_ECHO : ICMP6_ECHO_REQUEST)};
  size_t length = strlen(a[2]);
  memcpy(packet + 8, a[2], length);
  unsigned sum = 0;
  for (size_t i = 0; i < 8 + length + 1; i += 2) sum += (unsigned)(packet[i] | packet[i + 1] << 8);
  while (sum >> 16) sum = (sum & 0xffff) + (sum >> 16);
  packet[2] = (unsigned char)(~sum & 0xff);
  packet[3] = (unsigned char)((~sum >> 8) & 0xff);
  int protocol = place.family == AF_INET ? IPPROTO_ICMP : IPPROTO_ICMPV6;
  int probe = socket(place.family, type, protocol);
  /* A host may reserve echo requests for some groups. */
  if (probe < 0 && errno == EACCES) unavailable("socket");
  close(probe);
  int fd = open_socket(place.family, type, protocol);
  must((int)sendto(fd, packet, 8 + length, 0, (struct sockaddr *)&place.address, place.length), "sendto");
  say("tried", "sent");
}

static void icmp(char **a) { echo(a, SOCK_DGRAM); }
static void raw_icmp(char **a) { echo(a, SOCK_RAW); }

/* A packet with a header of its own making, protocol 253 (for experiments). */
static void raw_ip(char **a) {
  struct place place = place_of(a[0], "0");
  unsigned char packet[160];
  memset(packet, 0, sizeof packet);
  struct iphdr *header = (struct iphdr *)packet;
  size_t length = sizeof *header + strlen(a[2]);
  header->version = 4;
  header->ihl = 5;
  header->ttl = 64;
  header->protocol = 253;
  header->tot_len = htons((unsigned short)length);
  header->daddr = ((struct sockaddr_in *)&place.address)->sin_addr.s_addr;
  memcpy(packet + sizeof *header, a[2], strlen(a[2]));
  int fd = open_socket(AF_INET, SOCK_RAW, IPPROTO_RAW);
  must((int)sendto(fd, packet, length, 0, (struct sockaddr *)&place.address, place.length), "sendto");
  say("tried", "sent");
}

/* A frame past the whole IP layer; addressed to everybody on the link. */
static void frame(char **a, int type) {
  int fd = open_socket(AF_PACKET, type, htons(ETH_P_IP));
  struct sockaddr_ll link = {.sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_IP), .sll_halen = 6};
  memset(link.sll_addr, 0xff, 6);
  struct if_nameindex *all = if_nameindex();
  for (struct if_nameindex *each = all; each != NULL && each->if_name != NULL; each++)
    if (strcmp(each->if_name, "lo") != 0 && link.sll_ifindex == 0) link.sll_ifindex = (int)each->if_index;
  unsigned char packet[160];
  memset(packet, 0, sizeof packet);
  memset(packet, 0xff, 6);
  packet[12] = 8;
  struct iphdr *header = (struct iphdr *)(packet + 14);
  size_t length = sizeof *header + strlen(a[2]);
  header->version = 4;
  header->ihl = 5;
  header->ttl = 64;
  header->protocol = 253;
  header->tot_len = htons((unsigned short)length);
  header->daddr = inet_addr(a[0]);
  memcpy(packet + 14 + sizeof *header, a[2], strlen(a[2]));
  size_t skip = type == SOCK_RAW ? 0 : 14;
  must((int)sendto(fd, packet + skip, length + 14 - skip, 0, (struct sockaddr *)&link, sizeof link), "sendto");
  say("tried", "sent");
}

static void packet(char **a) { frame(a, SOCK_RAW); }
static void packet_dgram(char **a) { frame(a, SOCK_DGRAM); }

/*
 * Takes a port of the host's loopback and waits for somebody to call there, as one does who poses
 * as the proxy.
 */
static void squat(char **a) {
  struct place place = place_of(a[0], a[1]);
  int fd = open_socket(place.family, SOCK_STREAM, 0), on = 1;
  struct timeval patience = {.tv_sec = atoi(a[3])};
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  must(bind(fd, (struct sockaddr *)&place.address, place.length), "bind");
  must(listen(fd, 8), "listen");
  send_token(must(accept(fd, NULL, NULL), "nobody called"), a[2]);
}

int main(int argc, char **argv) {
  static const struct verb verbs[] = {
      {"tcp", tcp}, {"mptcp", mptcp}, {"sctp", sctp}, {"tcp-syscall", tcp_syscall}, {"tcp-bound", tcp_bound}, {"tcp-again", tcp_again},
      {"fastopen", fastopen}, {"fastopen-connect", fastopen_connect}, {"toctou", toctou}, {"orphan", orphan}, {"udp", udp},
      {"udplite", udplite}, {"udp-connected", udp_connected}, {"udp-many", udp_many}, {"udp-group", udp_group}, {"dns", dns},
      {"dns-tcp", dns_tcp}, {"icmp", icmp}, {"raw-icmp", raw_icmp}, {"raw-ip", raw_ip}, {"packet", packet},
      {"packet-dgram", packet_dgram}, {"squat", squat},
#ifndef STATIC_BUILD
      {"resolver", resolver},
#endif
      {NULL, NULL},
  };
  return run_verb(verbs, argc, argv);
}
