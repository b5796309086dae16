/*
 * The listeners outside: listen KIND=PLACE... Whatever arrives is one JSON line; the program says
 * nothing that would help an attempt. Kinds: tcp udp udplite (ADDRESS,PORT), stream dgram seqpacket
 * (/PATH or @ABSTRACT), netlink (PORT), packet (INTERFACE); and call (PORT): who calls 127.0.0.1
 * again and again, as a client of the host does.
 */
#include "common.h"
#include <arpa/inet.h>
#include <linux/if_ether.h>
#include <linux/netlink.h>
#include <net/if.h>
#include <netinet/icmp6.h>
#include <netinet/ip.h>
#include <netinet/ip6.h>
#include <netpacket/packet.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

enum { PLACES_MAX = 512, TEXT_MAX = 1200 };
static struct pollfd polled[PLACES_MAX];
static struct {
  const char *name;
  int accepts, is_packet, has_spoken;
} places[PLACES_MAX];
static int count = 0;

static void add(int fd, const char *name) {
  if (count == PLACES_MAX) {
    close(fd);
    return;
  }
  polled[count].fd = fd;
  polled[count].events = POLLIN;
  memset(&places[count], 0, sizeof places[count]);
  places[count++].name = name;
}

static void arrived(const char *listener, const char *address, const unsigned char *text, size_t length) {
  printf("{\"listener\":\"");
  print_escaped(listener, strlen(listener));
  printf("\",\"address\":\"%s\",\"text\":\"", address);
  print_escaped((const char *)text, length > TEXT_MAX ? TEXT_MAX : length);
  puts("\"}");
  fflush(stdout);
}

static void listen_internet(const char *spec, const char *place, int type, int protocol) {
  char address[64];
  const char *comma = strchr(place, ',');
  if (comma == NULL) exit(64);
  snprintf(address, sizeof address, "%.*s", (int)(comma - place), place);
  struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_port = htons((unsigned short)atoi(comma + 1))};
  struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_port = v6.sin6_port};
  int is_v4 = inet_pton(AF_INET, address, &v4.sin_addr) == 1, on = 1;
  if (!is_v4 && inet_pton(AF_INET6, address, &v6.sin6_addr) != 1) exit(64);
  int fd = socket(is_v4 ? AF_INET : AF_INET6, type, protocol);
  if (fd < 0 && (errno == EPROTONOSUPPORT || errno == EAFNOSUPPORT)) return;
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (!is_v4) setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
  int bound = is_v4 ? bind(fd, (struct sockaddr *)&v4, sizeof v4) : bind(fd, (struct sockaddr *)&v6, sizeof v6);
  if (fd < 0 || bound != 0 || (type == SOCK_STREAM && listen(fd, 64) != 0)) {
    perror(spec);
    exit(1);
  }
  add(fd, spec);
  places[count - 1].accepts = type == SOCK_STREAM;
}

static void listen_unix(const char *spec, const char *place, int type) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  snprintf(address.sun_path, sizeof address.sun_path, "%s", place);
  socklen_t length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(place) + (place[0] == '@' ? 0 : 1));
  if (place[0] == '@') address.sun_path[0] = 0;
  else unlink(place);
  int fd = socket(AF_UNIX, type, 0);
  if (fd < 0 || bind(fd, (struct sockaddr *)&address, length) != 0 || (type != SOCK_DGRAM && listen(fd, 64) != 0)) {
    perror(spec);
    exit(1);
  }
  /* As open as a socket can be: what is looked at is the sandbox, not the mode. */
  if (place[0] != '@') chmod(place, 0666);
  add(fd, spec);
  places[count - 1].accepts = type != SOCK_DGRAM;
}

static void listen_netlink(const char *spec, const char *place) {
  struct sockaddr_nl address = {.nl_family = AF_NETLINK, .nl_pid = (unsigned)atoi(place)};
  int fd = socket(AF_NETLINK, SOCK_RAW, NETLINK_USERSOCK);
  if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof address) != 0) {
    perror(spec);
    exit(1);
  }
  add(fd, spec);
}

/* Every packet that comes in by an interface. */
static void listen_packets(const char *spec, const char *place) {
  int fd = socket(AF_PACKET, SOCK_DGRAM, htons(ETH_P_ALL));
  struct sockaddr_ll link = {.sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_ALL), .sll_ifindex = (int)if_nametoindex(place)};
  if (fd < 0 || bind(fd, (struct sockaddr *)&link, sizeof link) != 0) {
    perror(spec);
    exit(1);
  }
  add(fd, spec);
  places[count - 1].is_packet = 1;
}

/*
 * The kernel's own talk with its neighbours: routers, neighbours, groups (types 130 to 137 and 143,
 * and IGMP).
 */
static int is_housekeeping(const unsigned char *packet, size_t length, int protocol) {
  if (protocol == ETH_P_IP && length >= sizeof(struct iphdr)) return ((const struct iphdr *)(const void *)packet)->protocol == 2;
  if (protocol != ETH_P_IPV6 || length < sizeof(struct ip6_hdr) + 8) return protocol != ETH_P_IP && protocol != ETH_P_IPV6;
  const struct ip6_hdr *header = (const struct ip6_hdr *)(const void *)packet;
  const unsigned char *inner = packet + sizeof *header;
  /* Group reports come behind a router-alert option. */
  if (header->ip6_nxt == 0 && inner[0] == IPPROTO_ICMPV6) return 1;
  return header->ip6_nxt == IPPROTO_ICMPV6 && ((inner[0] >= 130 && inner[0] <= 137) || inner[0] == 143);
}

static void packet_arrived(const char *listener, int fd) {
  unsigned char packet[2048];
  struct sockaddr_ll from;
  socklen_t from_length = sizeof from;
  ssize_t length = recvfrom(fd, packet, sizeof packet, 0, (struct sockaddr *)&from, &from_length);
  if (length <= 0 || from.sll_pkttype == PACKET_OUTGOING) return;
  int protocol = ntohs(from.sll_protocol);
  if (is_housekeeping(packet, (size_t)length, protocol)) return;
  char address[INET6_ADDRSTRLEN] = "";
  if (protocol == ETH_P_IP) inet_ntop(AF_INET, packet + offsetof(struct iphdr, daddr), address, sizeof address);
  else inet_ntop(AF_INET6, packet + offsetof(struct ip6_hdr, ip6_dst), address, sizeof address);
  arrived(listener, address, packet, (size_t)length);
}

/* Calls a service of this machine, whoever that is. */
static int callers_port = 0;
static void call(void) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((unsigned short)callers_port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  int fd = socket(AF_INET, SOCK_STREAM, 0);
  if (connect(fd, (struct sockaddr *)&address, sizeof address) != 0) {
    close(fd);
    return;
  }
  add(fd, "call");
  /* One who calls may be hung up on. */
  places[count - 1].has_spoken = 1;
}

static void heard(int index) {
  if (places[index].is_packet) {
    packet_arrived(places[index].name, polled[index].fd);
    return;
  }
  if (places[index].accepts) {
    int fd = accept(polled[index].fd, NULL, NULL);
    if (fd >= 0) add(fd, places[index].name);
    return;
  }
  unsigned char text[TEXT_MAX];
  ssize_t length = recv(polled[index].fd, text, sizeof text, MSG_DONTWAIT);
  if (length > 0) {
    places[index].has_spoken = 1;
    arrived(places[index].name, "", text, (size_t)length);
    send(polled[index].fd, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", 40, MSG_DONTWAIT | MSG_NOSIGNAL);
    return;
  }
  if (length < 0 && errno == EAGAIN) return;
  if (!places[index].has_spoken) arrived(places[index].name, "", (const unsigned char *)"a connection that said nothing", 30);
  close(polled[index].fd);
  polled[index] = polled[--count];
  places[index] = places[count];
}

int main(int argc, char **argv) {
  static const struct {
    const char *kind;
    int type, protocol;
  } internet[] = {{"tcp", SOCK_STREAM, 0}, {"udp", SOCK_DGRAM, 0}, {"udplite", SOCK_DGRAM, 136}},
    local[] = {{"stream", SOCK_STREAM, 0}, {"dgram", SOCK_DGRAM, 0}, {"seqpacket", SOCK_SEQPACKET, 0}};
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  signal(SIGPIPE, SIG_IGN);
  for (int i = 1; i < argc; i++) {
    const char *place = strchr(argv[i], '=');
    if (place == NULL) return 64;
    size_t length = (size_t)(place++ - argv[i]);
    for (int k = 0; k < 3; k++) {
      if (strlen(internet[k].kind) == length && strncmp(argv[i], internet[k].kind, length) == 0)
        listen_internet(argv[i], place, internet[k].type, internet[k].protocol);
      if (strlen(local[k].kind) == length && strncmp(argv[i], local[k].kind, length) == 0) listen_unix(argv[i], place, local[k].type);
    }
    if (strncmp(argv[i], "netlink=", 8) == 0) listen_netlink(argv[i], place);
    if (strncmp(argv[i], "packet=", 7) == 0) listen_packets(argv[i], place);
    if (strncmp(argv[i], "call=", 5) == 0) callers_port = atoi(place);
  }
  puts("{\"listener\":\"ready\",\"address\":\"\",\"text\":\"\"}");
  fflush(stdout);
  for (;;) {
    if (callers_port != 0) call();
    if (poll(polled, (nfds_t)count, callers_port == 0 ? -1 : 50) < 0 && errno != EINTR) return 1;
    for (int i = count - 1; i >= 0; i--)
      if (polled[i].revents != 0) heard(i);
  }
}
