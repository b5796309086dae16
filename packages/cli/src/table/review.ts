/**
 * Commands about what agents wrote and nobody has taken yet. Rows of the table in commands.ts.
 */
import type { Command } from "../command.js";

const PATHS_MAX = 1_000;

/** `acp review …`. */
export const REVIEW_COMMANDS: readonly Command[] = [
  {
    name: "review list",
    summary: "List what commands of acp run --review wrote and nobody has settled",
    usage: "",
    operandsMax: 0,
    takesRest: false,
    options: [],
    details: ["The oldest first. A review outlasts its command, also one that was killed."],
    examples: ["acp review list", "acp review list --json"],
    exits: ["invalid", "nothing"],
    load: async () => (await import("../commands/review.js")).reviewList,
  },
  {
    name: "review show",
    summary: "Freeze what a command wrote, and show what is different",
    usage: "[ID] [PATH…]",
    operandsMax: PATHS_MAX,
    takesRest: false,
    options: ["diff"],
    details: [
      "Copies what the command wrote so far and compares it with the workspace. Set apart are files that other programs run by themselves, what was changed in the workspace meanwhile, and what is never taken: links that lead out, devices, pipes, set-user-ID programs, attributes.",
      "The digest names exactly what is shown; acp review take wants it. With --diff, or with paths, the lines are shown too.",
      "Without ID it is the only review that there is.",
    ],
    examples: ["acp review show", "acp review show 3f9a --diff", "acp review show 3f9a src/index.ts"],
    exits: ["invalid", "nothing"],
    load: async () => (await import("../commands/review.js")).reviewShow,
  },
  {
    name: "review take",
    summary: "Put what was shown into the workspace, all or some of it",
    usage: "ID [PATH…]",
    operandsMax: PATHS_MAX,
    takesRest: false,
    options: ["digest", "all", "overwrite"],
    details: [
      "Takes the paths, each with all below it, or with --all everything that is not set apart. What other programs run by themselves is taken only by its own name. Nothing is taken where the digest is not that of what was frozen last.",
      "A file that is not in the workspace as it was shown is a conflict and stays, unless --overwrite gives it up. A take that was interrupted is done again with the same command line. The audit log has the digest and the counts.",
    ],
    examples: ["acp review take 3f9a --all --digest 5d41…", "acp review take 3f9a src .envrc --digest 5d41…"],
    exits: ["invalid", "audit", "nothing"],
    load: async () => (await import("../commands/review.js")).reviewTake,
  },
  {
    name: "review drop",
    summary: "Throw away what a command wrote; the workspace stays as it is",
    usage: "ID",
    operandsMax: 1,
    takesRest: false,
    options: [],
    details: ["There is no way back. A command that still runs has to end first."],
    examples: ["acp review drop 3f9a"],
    exits: ["invalid", "audit", "nothing"],
    load: async () => (await import("../commands/review.js")).reviewDrop,
  },
];
