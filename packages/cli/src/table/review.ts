/**
 * Commands about what agents wrote and nobody has taken yet. Rows of the table in commands.ts.
 */
import type { Command } from "../command.js";

const PATHS_MAX = 1_000;

/** `acp review …`. */
export const REVIEW_COMMANDS: readonly Command[] = [
  {
    name: "review list",
    summary: "List the open reviews of acp run --review",
    usage: "",
    operandsMax: 0,
    takesRest: false,
    options: [],
    details: [
      "Lists the oldest first. A review remains after its command ends, even if the command was killed.",
    ],
    examples: ["acp review list", "acp review list --json"],
    exits: ["invalid", "nothing"],
    load: async () => (await import("../commands/review.js")).reviewList,
  },
  {
    name: "review show",
    summary: "Freeze what a command wrote, and show the differences",
    usage: "[ID] [PATH…]",
    operandsMax: PATHS_MAX,
    takesRest: false,
    options: ["diff"],
    details: [
      "Copies what the command has written so far and compares it with the workspace. Three " +
        "groups are listed separately: files that other programs run on their own, files that " +
        "changed in the workspace meanwhile, and what is never taken (links that lead outside, " +
        "devices, pipes, set-user-ID programs, attributes).",
      "The digest identifies exactly what is shown; acp review take requires it. With --diff, or " +
        "with paths, the changed lines are shown too.",
      "You can omit ID if there is only one review.",
    ],
    examples: [
      "acp review show",
      "acp review show 3f9a --diff",
      "acp review show 3f9a src/index.ts",
    ],
    exits: ["invalid", "nothing"],
    load: async () => (await import("../commands/review.js")).reviewShow,
  },
  {
    name: "review take",
    summary: "Copy what was shown into the workspace, all or some of it",
    usage: "ID [PATH…]",
    operandsMax: PATHS_MAX,
    takesRest: false,
    options: ["digest", "all", "overwrite"],
    details: [
      "Takes each path with everything below it, or with --all everything that is not listed " +
        "separately. A file that other programs run on their own is taken only if you name that " +
        "file. If the digest does not match what was frozen last, nothing is taken.",
      "A file that differs in the workspace from what was shown is a conflict. It stays as it " +
        "is, unless --overwrite replaces it. If a take is interrupted, run the same command line " +
        "again. The audit log records the digest and the counts.",
    ],
    examples: [
      "acp review take 3f9a --all --digest 5d41…",
      "acp review take 3f9a src .envrc --digest 5d41…",
    ],
    exits: ["invalid", "audit", "nothing"],
    load: async () => (await import("../commands/review.js")).reviewTake,
  },
  {
    name: "review drop",
    summary: "Discard what a command wrote; the workspace stays as it is",
    usage: "ID",
    operandsMax: 1,
    takesRest: false,
    options: [],
    details: ["This cannot be undone. If the command is still running, end it first."],
    examples: ["acp review drop 3f9a"],
    exits: ["invalid", "audit", "nothing"],
    load: async () => (await import("../commands/review.js")).reviewDrop,
  },
];
