/** Attempts on the host's sockets and files. Data only. */
import type { EscapeAttempt } from "./attempt.js";

const arrival = { provenBy: "arrival" } as const;
const path = { ...arrival, aspects: ["path_sockets"] } as const;
const abstract = { ...arrival, aspects: ["abstract_sockets"] } as const;

const SOCKETS: readonly EscapeAttempt[] = [
  {
    ...path,
    id: "approval-socket",
    title: "answers on the approval socket",
    run: ["unix", "path-stream", "{sockets}/stream", "{token}"],
  },
  {
    ...path,
    id: "path-dgram",
    title: "reaches a datagram path socket",
    run: ["unix", "path-dgram", "{sockets}/dgram", "{token}"],
  },
  {
    ...path,
    id: "path-seqpacket",
    title: "reaches a packet path socket",
    run: ["unix", "path-seqpacket", "{sockets}/seqpacket", "{token}"],
  },
  {
    ...path,
    id: "path-sendmsg",
    title: "sends to a path without connecting",
    run: ["unix", "path-sendmsg", "{sockets}/dgram", "{token}"],
  },
  {
    ...path,
    id: "path-pair",
    title: "aims a socket pair at a path",
    run: ["unix", "path-pair", "{sockets}/dgram", "{token}"],
  },
  {
    ...path,
    id: "path-symlink",
    title: "reaches a path socket by a link",
    run: ["unix", "path-symlink", "{sockets}/stream", "{token}"],
  },
  {
    ...path,
    id: "path-hardlink",
    title: "reaches a path socket by a second name",
    run: ["unix", "path-hardlink", "{sockets}/stream", "{token}"],
  },
  {
    ...path,
    id: "path-descriptor",
    title: "reaches a path socket by its descriptor",
    run: ["unix", "path-descriptor", "{sockets}/stream", "{token}"],
  },
  {
    ...path,
    id: "system-bus",
    title: "talks to the system's bus",
    run: ["unix", "path-stream", "/run/dbus/system_bus_socket", "{token}"],
  },
  {
    ...abstract,
    id: "abstract-stream",
    title: "reaches an abstract socket",
    run: ["unix", "abstract-stream", "escape-stream", "{token}"],
  },
  {
    ...abstract,
    id: "abstract-dgram",
    title: "reaches an abstract datagram socket",
    run: ["unix", "abstract-dgram", "escape-dgram", "{token}"],
  },
  {
    ...abstract,
    id: "abstract-seqpacket",
    title: "reaches an abstract packet socket",
    run: ["unix", "abstract-seqpacket", "escape-seqpacket", "{token}"],
  },
  {
    ...abstract,
    id: "abstract-pair",
    title: "aims a socket pair at an abstract name",
    run: ["unix", "abstract-pair", "escape-dgram", "{token}"],
  },
  {
    ...abstract,
    id: "netlink-user",
    title: "sends to a process by netlink",
    run: ["unix", "netlink-user", "4242", "{token}"],
  },
  {
    ...arrival,
    aspects: ["tcp", "child_processes"],
    id: "inherited-socket",
    title: "writes to a connection that somebody forgot to close",
    run: ["files", "inherited-socket", "{token}"],
  },
];

const secret = { provenBy: "secret" } as const;
const files = { ...secret, aspects: ["files"] } as const;
const KEY = "{hidden}/keys.json";
const VICTIM = ["{victimPid}", "{victim}"] as const;

const FILES: readonly EscapeAttempt[] = [
  { ...files, id: "read-keys", title: "reads a key", run: ["files", "read", KEY] },
  { ...files, id: "read-upwards", title: "reads a key by going up", run: ["files", "dots", KEY] },
  {
    ...files,
    id: "read-own-root",
    title: "reads a key above its own root",
    run: ["files", "self-root", KEY],
  },
  {
    ...files,
    id: "read-init-root",
    title: "reads a key in the root of process 1",
    run: ["proc", "init-root", "", "", KEY],
    batch: "privileged",
  },
  {
    ...files,
    id: "read-symlink",
    title: "reads a key by a link in the workspace",
    run: ["files", "symbolic-link", KEY],
  },
  {
    ...files,
    id: "read-hardlink",
    title: "reads a key by a second name in the workspace",
    run: ["files", "hard-link", KEY],
  },
  {
    ...files,
    id: "read-uncovered",
    title: "takes the cover off in a namespace of its own",
    run: ["files", "uncover", KEY],
  },
  {
    ...files,
    id: "read-inherited",
    title: "reads what somebody forgot to close",
    run: ["files", "inherited"],
  },
  { ...files, id: "list-home", title: "lists the hidden home", run: ["files", "list", "{hidden}"] },
  {
    ...files,
    id: "read-bind",
    title: "mounts the hidden home",
    run: ["files", "bind", "{hidden}", "keys.json"],
    batch: "privileged",
  },
  {
    ...files,
    id: "read-handle",
    title: "opens a key by its handle",
    run: ["files", "handle", "{workspace}", "{keyHandle}"],
    batch: "privileged",
  },
  {
    ...files,
    id: "leave-root",
    title: "leaves its root by a second one",
    run: ["files", "leave-root", KEY],
    batch: "privileged",
  },
  {
    ...files,
    id: "keyring",
    title: "reads the user's keyring",
    run: ["proc", "keyring", ...VICTIM],
  },
  {
    ...files,
    id: "shared-memory",
    title: "reads shared memory (System V)",
    run: ["proc", "shared-memory"],
  },
  { ...files, id: "message-queue", title: "reads a message queue (POSIX)", run: ["proc", "queue"] },
  {
    ...files,
    id: "dev-shm",
    title: "reads shared memory (POSIX)",
    run: ["files", "read", "/dev/shm/{shm}"],
  },
];

const change = { provenBy: "change", aspects: ["files"] } as const;
const CHANGES: readonly EscapeAttempt[] = [
  {
    ...change,
    id: "policy-append",
    title: "adds a rule to the policy",
    file: "policy.yml",
    run: ["files", "append", "{hidden}/policy.yml", "{token}"],
  },
  {
    ...change,
    id: "audit-truncate",
    title: "empties the audit log",
    file: "audit.jsonl",
    run: ["files", "truncate", "{hidden}/audit.jsonl"],
  },
  {
    ...change,
    id: "grants-remove",
    title: "removes a file of the home",
    file: "grants.json",
    run: ["files", "remove", "{hidden}/grants.json"],
  },
  {
    ...change,
    id: "config-replace",
    title: "puts its own configuration in place",
    file: "config.yml",
    run: ["files", "replace", "{hidden}/config.yml", "{token}"],
  },
  {
    ...change,
    id: "proofs-move",
    title: "moves a directory of the home away",
    file: "proofs/one",
    run: ["files", "move", "{hidden}/proofs"],
  },
  {
    ...change,
    id: "startup-file",
    title: "writes what the user's next shell runs",
    file: "../.profile",
    run: ["files", "append", "{hidden}/../.profile", "{token}"],
  },
  {
    provenBy: "word",
    aspects: ["files"],
    id: "key-mode",
    title: "opens a key to everybody",
    run: ["files", "mode", "{hidden}/vault.json"],
  },
];

/** All of them. */
export const HOST_ATTEMPTS: readonly EscapeAttempt[] = [...SOCKETS, ...FILES, ...CHANGES];
