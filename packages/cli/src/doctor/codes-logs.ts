/** Codes of audit logs and checkpoints. Rows of the table in codes.ts. */

/** What can be wrong with logs. */
export const LOG_ROWS = {
  log_torn: {
    level: "warning",
    why: "A write was cut short; the next gate removes the rest and records it.",
    command: "acp doctor --fix log_torn",
  },
  log_nul: {
    level: "error",
    why: "The log cannot be verified past the NUL bytes, which a power failure leaves.",
    command: "acp doctor --fix log_nul",
  },
  log_broken: {
    level: "error",
    why: "The log cannot be verified past this line: it was damaged or changed.",
    command: "acp doctor --fix log_broken",
  },
  log_latched: {
    level: "error",
    why: "A gate found a bad line in it, and no gate writes it until a person decides.",
    command: "acp doctor --fix log_latched",
  },
  log_not_log: {
    level: "error",
    why: "Another file has the name of a log, so no gate starts.",
    command: "acp doctor --fix log_not_log",
  },
  log_start_missing: {
    level: "error",
    why: "Earlier events were removed, and the log does not say so.",
    command: "acp doctor --fix log_start_missing",
  },
  log_end_missing: {
    level: "error",
    why: "A signed checkpoint promised more events: the log was cut, emptied or removed.",
    command: "acp doctor --fix log_end_missing",
  },
  log_replaced: {
    level: "error",
    why: "A signed checkpoint promised other events: the log was written again.",
    command: "acp doctor --fix log_replaced",
  },
  log_unreadable: {
    level: "error",
    why: "What a log says cannot be seen, which does not mean that nothing is there.",
    command: "ls -l PATH",
  },
  index_behind: {
    level: "warning",
    why: "Until the index of the logs is whole, a resident gate allows nothing and others start late.",
    command: "acp doctor --fix index_behind",
  },
  log_misnamed: {
    level: "warning",
    why: "Nothing reads it as a log: its events are in no search, and nobody verifies them.",
    command: "acp audit verify PATH",
  },
  logs_many: {
    level: "warning",
    why: "Each start looks at every log, and at 64 of them no gate starts.",
    command: "acp audit verify",
  },
  checkpoints_broken: {
    level: "error",
    why: "No gate opens a log whose checkpoints it cannot read.",
    command: "acp doctor --fix checkpoints_broken",
  },
  checkpoints_emptied: {
    level: "warning",
    why: "Without checkpoints, a log that was cut cannot be told from a whole one.",
    command: "acp doctor --fix checkpoints_emptied",
  },
  checkpoints_foreign: {
    level: "error",
    why: "A checkpoint that this home did not sign for this log proves nothing.",
    command: "acp doctor --fix checkpoints_foreign",
  },
  witness_foreign: {
    level: "warning",
    why: "A witness keeps a checkpoint that this home did not sign for this log.",
    command: "acp audit verify",
  },
  witness_missing: {
    level: "warning",
    why: "A log that was cut together with its checkpoints is not noticed.",
    command: "mount the witness, or change audit.witnesses in config.yml",
  },
  quarantine_unfinished: {
    level: "error",
    why: "A log is being set aside, and no gate opens it until that is done.",
    command: "acp doctor --fix quarantine_unfinished",
  },
  quarantine_changed: {
    level: "error",
    why: "A log that was set aside is evidence, and it is not what it was.",
    command: "acp restore FILE --to DIR, and copy PATH from there",
  },
  quarantine_gone: {
    level: "warning",
    why: "A log that was set aside is evidence, and it is not there anymore.",
    command: "acp restore FILE --to DIR, and copy PATH from there",
  },
  seams_missing: {
    level: "error",
    why: "Gates take the log for an older one of its name, and sign it as that.",
    command: "acp doctor --fix seams_missing",
  },
  seam_broken: {
    level: "error",
    why: "What was set aside cannot be told, and no gate opens the log.",
    command: "acp restore FILE --to DIR, and copy PATH from there",
  },
} as const;
