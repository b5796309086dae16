/**
 * Codes: one row for each finding of `acp doctor`. Codes are API; docs/reference/findings.md comes
 * from here.
 */
import type { CodeRow } from "./code-row.js";
import { FILE_ROWS } from "./codes-files.js";
import { LOG_ROWS } from "./codes-logs.js";

const PLACE_ROWS = {
  clock_wrong: {
    level: "error",
    why: "Times in questions, grants and logs are wrong, and TLS may fail.",
    command: "timedatectl set-ntp true",
  },
  clock_behind: {
    level: "error",
    why: "Gates do not believe earlier consents while the clock is behind the log.",
    command: "timedatectl set-ntp true",
  },
  clock_future_events: {
    level: "warning",
    why: "A clock that was ahead wrote events with times that have not come yet.",
    command: "acp audit show --since 1m",
  },
  disk_full: {
    level: "error",
    why: "A gate that cannot write its log allows nothing.",
    command: "df -h PATH",
  },
  disk_low: {
    level: "warning",
    why: "A gate that cannot write its log allows nothing.",
    command: "df -h PATH",
  },
  inodes_low: {
    level: "error",
    why: "No file can be created, so no gate can start.",
    command: "df -i PATH",
  },
  disk_read_only: {
    level: "error",
    why: "A gate that cannot write its log allows nothing.",
    command: "mount -o remount,rw MOUNT_POINT",
  },
  config_broken: {
    level: "error",
    why: "No gate starts with a configuration that does not load.",
    command: "edit PATH, then run: acp doctor",
  },
  config_missing: {
    level: "warning",
    why: "Gates run with the defaults: the terminal channel and no servers.",
    command: "acp init",
  },
  config_warning: {
    level: "warning",
    why: "The setting loads, and does not do what it seems to.",
    command: "edit PATH, then run: acp doctor",
  },
  policy_broken: {
    level: "error",
    why: "No gate starts with a policy that does not load.",
    command: "acp policy check",
  },
  policy_missing: {
    level: "error",
    why: "Without a policy every call is denied.",
    command: "acp init",
  },
  socket_path_long: {
    level: "error",
    why: "A socket path has at most 103 bytes, and gates need sockets in the home.",
    command: "acp move SHORTER_PATH",
  },
  socket_stale: {
    level: "warning",
    why: "A gate that was killed left it; commands still try to connect to it.",
    command: "acp doctor --fix socket_stale",
  },
  lock_stale: {
    level: "warning",
    why: "A process that was killed left it; the next one removes it too.",
    command: "acp doctor --fix lock_stale",
  },
  run_folder_broken: {
    level: "error",
    why: "Approvers reach a gate only through sockets in this folder.",
    command: "mv PATH PATH.old",
  },
  port_taken: {
    level: "error",
    why: "What is to listen there does not start.",
    command: "change the port in config.yml, or end the other program",
  },
  port_forbidden: {
    level: "error",
    why: "Only root may listen on ports below 1024.",
    command: "choose a port from 1024 on in config.yml",
  },
  channel_secret_broken: {
    level: "error",
    why: "The channel cannot sign in, so questions reach nobody there.",
    command: "acp config encrypt FIELD",
  },
  channel_refused: {
    level: "error",
    why: "The service does not know this token, so questions reach nobody there.",
    command: "put the right token into config.yml, then run: acp doctor --online",
  },
  channel_unreachable: {
    level: "warning",
    why: "Questions do not reach anyone there while the service is out of reach.",
    command: "acp doctor --online",
  },
  channel_nobody: {
    level: "error",
    why: "Answers from a channel without an approver do not count.",
    command: "add an entry with that channel to approvers in config.yml",
  },
  sandbox_none: {
    level: "warning",
    why: "`acp run` starts nothing here, and an agent outside a sandbox can bypass the gate.",
    command: "acp sandbox probe",
  },
  sandbox_inside: {
    level: "error",
    why: "Inside a sandbox of acp run, the home and its gates are hidden or not the real ones.",
    command: "run acp doctor outside the sandbox",
  },
  examination_failed: {
    level: "error",
    why: "What could not be looked at may be broken.",
    command: "acp doctor --json",
  },
  node_old: {
    level: "error",
    why: "ACP needs Node 20.19 or later.",
    command: "install Node 20.19 or later",
  },
  install_mixed: {
    level: "warning",
    why: "Parts of different versions do not fit together.",
    command: "reinstall @acp/cli",
  },
} as const;

/** Every code. */
export type FindingCode = keyof typeof PLACE_ROWS | keyof typeof FILE_ROWS | keyof typeof LOG_ROWS;

/** The row of each code. */
export const FINDINGS: Readonly<Record<FindingCode, CodeRow>> = {
  ...FILE_ROWS,
  ...LOG_ROWS,
  ...PLACE_ROWS,
};
