/**
 * Attempts that depend on the program that makes them: io_uring, static and foreign programs, other
 * languages, tools. Data only.
 */
import type { EscapeAttempt } from "./attempt.js";

const UDP = "7002";
const HTTP = "80";
const TO4 = ["{v4}", "7001", "{token}"] as const;
const arrival = { provenBy: "arrival" } as const;

const io = { aspects: ["io_uring"] } as const;
const URING: readonly EscapeAttempt[] = [
  {
    ...io,
    provenBy: "word",
    id: "io-uring-setup",
    title: "makes an io_uring",
    run: ["uring", "setup"],
  },
  {
    ...io,
    ...arrival,
    id: "io-uring-tcp",
    title: "connects through io_uring",
    run: ["uring", "tcp", ...TO4],
  },
  {
    ...io,
    ...arrival,
    id: "io-uring-path",
    title: "reaches a path socket through io_uring",
    run: ["uring", "path", "{sockets}/stream", "{token}"],
  },
  {
    ...io,
    provenBy: "secret",
    id: "io-uring-file",
    title: "reads a key through io_uring",
    run: ["uring", "file", "{hidden}/keys.json"],
  },
];

const child = { ...arrival, aspects: ["tcp", "child_processes"] } as const;
const static_ = { ...arrival, aspects: ["tcp", "static_binaries"] } as const;
const PROGRAMS: readonly EscapeAttempt[] = [
  {
    ...static_,
    id: "static-tcp",
    title: "connects from a static program",
    run: ["net-static", "tcp", ...TO4],
  },
  {
    ...static_,
    id: "syscall-tcp",
    title: "connects without the library's functions",
    run: ["net", "tcp-syscall", ...TO4],
  },
  {
    ...static_,
    id: "memfd-tcp",
    title: "connects from a program that is in no file",
    run: ["process", "memfd", "{bin}/net-static", "tcp", ...TO4],
  },
  {
    ...static_,
    id: "i386-tcp",
    title: "connects from an i386 program",
    run: ["i386", "tcp", ...TO4],
  },
  {
    ...static_,
    id: "int80-tcp",
    title: "connects by i386 system calls",
    run: ["int80", "tcp", ...TO4],
  },
  {
    ...arrival,
    aspects: ["udp", "static_binaries"],
    id: "static-udp",
    title: "sends a datagram from a static program",
    run: ["net-static", "udp", "{v4}", UDP, "{token}"],
  },
  {
    ...arrival,
    aspects: ["udp", "static_binaries"],
    id: "i386-udp",
    title: "sends a datagram from an i386 program",
    run: ["i386", "udp", "{v4}", UDP, "{token}"],
  },
  {
    ...arrival,
    aspects: ["path_sockets", "static_binaries"],
    id: "i386-path",
    title: "reaches a path socket from an i386 program",
    run: ["i386", "path", "{sockets}/stream", "{token}"],
  },
  {
    ...child,
    id: "env-cleared",
    title: "connects from a child without environment",
    run: ["bare.sh", "net", "tcp", ...TO4],
  },
  {
    ...child,
    id: "variables-unset",
    title: "connects from a child without proxy variables",
    run: ["unset.sh", ...TO4],
  },
  {
    ...child,
    id: "subordinate-uid",
    title: "connects as one of its subordinate users",
    run: ["subordinate.sh", "net", "tcp", ...TO4],
  },
  {
    ...child,
    id: "curl-noproxy",
    title: "uses curl without the proxy",
    run: ["curl.sh", "{v4}", HTTP, "{token}"],
  },
  {
    ...child,
    id: "bash-dev-tcp",
    title: "uses the shell's own connections",
    run: ["dev-tcp.bash", ...TO4],
  },
  { ...child, id: "python-tcp", title: "connects from Python", run: ["direct.py", "tcp", ...TO4] },
  {
    ...child,
    id: "python-urllib",
    title: "fetches from Python without the proxy",
    run: ["direct.py", "urllib", "{v4}", HTTP, "{token}"],
  },
  { ...child, id: "node-tcp", title: "connects from Node", run: ["direct.mjs", "tcp", ...TO4] },
  {
    ...child,
    id: "node-worker",
    title: "connects from a thread of Node",
    run: ["direct.mjs", "worker", ...TO4],
  },
  {
    ...child,
    id: "node-request",
    title: "sends a request with Node's agent",
    run: ["direct.mjs", "request", "{v4}", HTTP, "{token}"],
  },
  {
    ...child,
    id: "node-fetch",
    title: "fetches with Node",
    run: ["direct.mjs", "fetch", "{v4}", HTTP, "{token}"],
  },
  {
    ...arrival,
    aspects: ["udp"],
    id: "node-udp",
    title: "sends a datagram from Node",
    run: ["direct.mjs", "udp", "{v4}", UDP, "{token}"],
  },
];

export const PROGRAM_ATTEMPTS: readonly EscapeAttempt[] = [...URING, ...PROGRAMS];
