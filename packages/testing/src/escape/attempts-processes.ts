/** Attempts on the host's processes and resources, and to stay when the sandbox ends. Data only. */
import type { EscapeAttempt } from "./attempt.js";

const secret = { provenBy: "secret" } as const;
const KEY = "{hidden}/keys.json";
const VICTIM = ["{victimPid}", "{victim}"] as const;
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

/** All of them. */
export const PROCESS_ATTEMPTS: readonly EscapeAttempt[] = [
  ...PROCESSES,
  ...LEFTOVERS,
  ...RESOURCES,
];
