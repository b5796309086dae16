/** Attempts on the host: its sockets, processes, files and resources. Data only. */
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

const TARGET = ["{targetPid}", "{token}"] as const;
const signals = { aspects: ["signals"] } as const;
const peek = { ...secret, aspects: ["files", "signals"] } as const;

const PROCESSES: readonly EscapeAttempt[] = [
  {
    ...peek,
    id: "proc-environ",
    title: "reads the environment of a process outside",
    run: ["proc", "environ", ...VICTIM],
  },
  {
    ...peek,
    id: "proc-cmdline",
    title: "reads the command line of a process outside",
    run: ["proc", "cmdline", ...VICTIM],
  },
  {
    ...peek,
    id: "proc-mem",
    title: "reads the memory of a process outside",
    run: ["proc", "mem", ...VICTIM, "{victimAddress}"],
  },
  {
    ...peek,
    id: "proc-fd",
    title: "opens a descriptor of a process outside",
    run: ["proc", "descriptor", ...VICTIM],
  },
  {
    ...peek,
    id: "proc-root",
    title: "reads a key through a process outside",
    run: ["proc", "root", ...VICTIM, KEY],
  },
  {
    ...peek,
    id: "proc-cwd",
    title: "reads a key from where a process outside is",
    run: ["proc", "cwd", ...VICTIM, KEY],
  },
  {
    ...peek,
    id: "vm-readv",
    title: "copies memory from a process outside",
    run: ["proc", "vm-readv", ...VICTIM, "{victimAddress}"],
  },
  {
    ...peek,
    id: "ptrace",
    title: "traces a process outside",
    run: ["proc", "trace", ...VICTIM, "{victimAddress}"],
  },
  {
    ...peek,
    id: "pidfd-getfd",
    title: "takes a descriptor of a process outside",
    run: ["proc", "take-descriptor", ...VICTIM],
  },
  {
    ...signals,
    provenBy: "death",
    id: "kill",
    title: "kills a process outside",
    run: ["proc", "kill", ...TARGET],
  },
  {
    ...signals,
    provenBy: "death",
    id: "tgkill",
    title: "kills a thread of a process outside",
    run: ["proc", "tgkill", ...TARGET],
  },
  {
    ...signals,
    provenBy: "death",
    id: "sigqueue",
    title: "queues a signal to a process outside",
    run: ["proc", "sigqueue", ...TARGET],
  },
  {
    ...signals,
    provenBy: "death",
    id: "pidfd-signal",
    title: "kills by a process descriptor",
    run: ["proc", "pidfd-signal", ...TARGET],
  },
  {
    ...signals,
    provenBy: "death",
    id: "sigio",
    title: "lets the kernel send a signal",
    run: ["proc", "sigio", ...TARGET],
  },
  {
    ...signals,
    provenBy: "word",
    id: "prlimit",
    title: "sets limits of a process outside",
    run: ["proc", "prlimit", ...TARGET],
  },
  {
    ...signals,
    provenBy: "word",
    id: "kill-manager",
    title: "may signal the manager",
    run: ["proc", "may-signal", "{managerPid}", "{managerName}"],
  },
  ...(["net", "pid", "mnt", "ipc"] as const).map(
    (kind): EscapeAttempt => ({
      provenBy: "word",
      aspects: ["child_processes"],
      id: `setns-${kind}`,
      title: `enters the ${kind} namespace of a process outside`,
      run: ["proc", "enter", ...VICTIM, kind],
      batch: "privileged",
    }),
  ),
];

const stays = { provenBy: "survivor", aspects: ["child_processes"] } as const;
const LEFTOVERS: readonly EscapeAttempt[] = [
  {
    ...stays,
    id: "daemon",
    title: "becomes a daemon that ignores signals",
    run: ["process", "daemon", "{token}"],
  },
  {
    ...stays,
    id: "sibling",
    title: "makes a sibling that hides its name",
    run: ["process", "sibling", "{token}"],
  },
  {
    ...stays,
    id: "stopped",
    title: "leaves a stopped process",
    run: ["process", "stopped", "{token}"],
  },
  { ...stays, id: "nohup", title: "stays by setsid and nohup", run: ["nohup.sh", "{token}"] },
  {
    ...stays,
    id: "schedule",
    title: "asks another service to run it",
    run: ["schedule.sh", "{token}"],
  },
  {
    provenBy: "arrival",
    aspects: ["tcp", "child_processes"],
    id: "later",
    title: "connects from a child, when the agent has ended too",
    run: ["process", "later", "{bin}/net", "tcp", "{v4}", "7001", "{token}"],
  },
  {
    provenBy: "word",
    aspects: ["child_processes"],
    id: "set-user-id",
    title: "starts a program with root's set-user-ID bit",
    run: ["process", "raise", "{workspace}/raised", "who"],
  },
  {
    provenBy: "word",
    aspects: ["child_processes"],
    id: "sudo",
    title: "asks for more rights",
    run: ["sudo.sh"],
  },
  {
    provenBy: "word",
    aspects: ["signals"],
    id: "terminal-input",
    title: "types into the terminal",
    run: ["process", "type-in", " "],
    batch: "terminal",
  },
];

const takes = { provenBy: "word", aspects: ["resource_caps"], batch: "resources" } as const;
const RESOURCES: readonly EscapeAttempt[] = [
  {
    ...takes,
    id: "open-files",
    title: "opens more files than it may",
    run: ["process", "open-files", "{tooManyFiles}"],
  },
  {
    ...takes,
    id: "scratch",
    title: "fills private places",
    run: ["process", "scratch", "{tooMuchScratch}"],
  },
  {
    ...takes,
    id: "processes",
    title: "starts more processes than it may",
    run: ["process", "forks", "{tooManyProcesses}"],
  },
  {
    ...takes,
    id: "memory",
    title: "takes more memory than it may",
    run: ["process", "memory", "{tooMuchMemory}"],
  },
];

export const HOST_ATTEMPTS: readonly EscapeAttempt[] = [
  ...SOCKETS,
  ...FILES,
  ...CHANGES,
  ...PROCESSES,
  ...LEFTOVERS,
  ...RESOURCES,
];
