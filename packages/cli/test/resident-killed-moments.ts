/** The moments at which resident-killed.test.ts ends a resident: see fixtures/die-at.cjs. */
import type { Moment } from "./resident-killed-points.js";
import type { How, Load } from "./resident-killed-world.js";

/** Moments of one kind. */
export interface Kind {
  readonly name: string;
  readonly world: "as it is" | "with small logs" | "with a passphrase" | "with two releases";
  /** The n-th, from 0. */
  moment(n: number): Moment;
  readonly hows?: readonly How[];
  readonly load?: Partial<Load>;
}

const event = (type: string): string => `write:"event_type":"${type}"`;
const BOTH = ["before", "after"] as const;
/** Frames, by their number in spec/resident.md. */
const FRAME = { ask: 5, greeting: 16, ready: 17, output: 19, told: 24, again: 25, hold: 30 };
/** Of many clients, also a later one. */
const of = (n: number, every: number): number => 1 + Math.floor(n / every) * 5;

/** A write with that text, the first and later ones, before and after it. */
const calling =
  (what: string): Kind["moment"] =>
  (n) => ({ at: `${what}|${of(n, 2)}|${BOTH[n % 2]}`, of: "this", during: "nothing" });

/** The moments of a start, of the one that follows. */
const STARTS: readonly string[] = [
  "load|1|before",
  "listen:control|1|before",
  "listen:control|1|after",
  "listen:agents|1|before",
  "listen:agents|1|after",
  `frame:${FRAME.greeting}|1|before`,
  `frame:${FRAME.greeting}|7|after`,
  `frame:${FRAME.ready}|1|before`,
  `frame:${FRAME.ready}|9|after`,
  "file:audit.jsonl|1|before",
  "file:audit.jsonl|1|after",
  "file:.checkpoints|1|after",
  "file:jsonl|3|after",
  `frame:${FRAME.output}|3|after`,
];
const PRUNES: readonly string[] = [
  `${event("log_pruned")}|1|before`,
  `${event("log_pruned")}|1|after`,
  "unlink:audit.jsonl.0|1|before",
  "unlink:audit.jsonl.0|1|after",
];
const ROTATIONS: readonly string[] = [
  "rename:audit.jsonl|1|before",
  "rename:audit.jsonl|1|after",
  "rename:audit.jsonl>>file:audit.jsonl|1|before",
  "rename:audit.jsonl>>file:audit.jsonl|1|after",
  "rename:audit.jsonl>>file:audit.jsonl|3|after",
];
const UNLOCKS: readonly string[] = [
  "scrypt|1|before",
  "scrypt|1|after",
  `scrypt>>frame:${FRAME.told}|1|before`,
  `scrypt>>frame:${FRAME.told}|1|half`,
  `scrypt>>frame:${FRAME.told}|1|after`,
  `scrypt>>frame:${FRAME.again}|1|before`,
  `scrypt>>frame:${FRAME.again}|7|after`,
  `scrypt>>file:audit.jsonl|1|before`,
  `scrypt>>file:audit.jsonl|1|after`,
  `scrypt>>frame:${FRAME.ready}|5|after`,
  `scrypt>>${event("consent_requested")}|2|after`,
  `scrypt>>${event("consent_approved")}|2|after`,
  `scrypt>>${event("tool_call_forwarded")}|3|before`,
  `scrypt>>${event("tool_call_forwarded")}|3|after`,
  `scrypt>>${event("tool_call_completed")}|4|after`,
  `scrypt>>frame:${FRAME.output}|30|half`,
];
/** Of the one that gives way. */
const GIVES_WAY: readonly string[] = [
  `frame:${FRAME.told}|1|before`,
  `frame:${FRAME.told}|1|after`,
  `frame:${FRAME.hold}|1|before`,
  `frame:${FRAME.hold}|8|after`,
  `frame:${FRAME.hold}|20|after`,
  `frame:${FRAME.hold}>>${event("tool_call_completed")}|1|before`,
  `frame:${FRAME.hold}>>${event("tool_call_completed")}|1|after`,
  `frame:${FRAME.hold}>>frame:${FRAME.output}|1|half`,
  "unlink:run/agents|1|before",
  "unlink:run/agents|1|after",
  "unlink:run/control|1|after",
  `frame:${FRAME.again}|1|before`,
  `frame:${FRAME.again}|9|after`,
  "exit|1|before",
];
/** Of the one that takes its place. */
const FOLLOWS: readonly string[] = [
  "load|1|before",
  `frame:${FRAME.ask}|1|before`,
  `frame:${FRAME.ask}|1|after`,
  "listen:control|1|before",
  "listen:control|1|after",
  "listen:agents|1|before",
  "listen:agents|1|after",
  `frame:${FRAME.greeting}|1|before`,
  `frame:${FRAME.greeting}|5|after`,
  `frame:${FRAME.ready}|1|before`,
  `frame:${FRAME.ready}|11|after`,
  "file:audit.jsonl|1|before",
  "file:audit.jsonl|1|after",
  `${event("tool_call_forwarded")}|1|after`,
];

const nth = (all: readonly string[], n: number): string => all[n % all.length] ?? "";

/** All of them. */
export const KINDS: readonly Kind[] = [
  {
    name: "start",
    world: "as it is",
    moment: (n) => ({ at: nth(STARTS, n), of: "next", during: "killed", afterMs: 30 * n }),
  },
  { name: "asked", world: "as it is", moment: calling(event("consent_requested")) },
  { name: "decision written", world: "as it is", moment: calling(event("consent_approved")) },
  { name: "permit", world: "as it is", moment: calling('write:"adopted":true') },
  { name: "forwarded", world: "as it is", moment: calling(event("tool_call_forwarded")) },
  { name: "server answered", world: "as it is", moment: calling(event("tool_call_completed")) },
  {
    name: "reply half sent",
    world: "as it is",
    moment: (n) => ({
      at: `frame:${FRAME.output}|${of(n, 1)}|${n % 3 === 2 ? "before" : "half"}`,
      of: "this",
      during: "nothing",
    }),
  },
  {
    name: "index write",
    world: "as it is",
    moment: (n) => ({ at: `file:.index|1|${BOTH[n % 2]}`, of: "this", during: "nothing" }),
    load: { asks: 10, acts: 4 },
  },
  {
    name: "from outside",
    world: "as it is",
    moment: (n) => ({ of: "this", during: "nothing", afterMs: 23 * n }),
    hows: ["kill", "stop, then kill", "stop, then let go"],
  },
  {
    name: "rotation",
    world: "with small logs",
    moment: (n) => ({
      at: nth(ROTATIONS, n),
      of: "this",
      during: "nothing",
      log: "nearly full",
    }),
    load: { asks: 5, acts: 2 },
  },
  {
    name: "prune",
    world: "with small logs",
    moment: (n) => ({
      at: nth(PRUNES, n),
      of: "next",
      during: "killed",
      afterMs: 30 * n,
      log: "two files full",
    }),
  },
  {
    name: "unlock",
    world: "with a passphrase",
    moment: (n) => ({ at: nth(UNLOCKS, n), of: "this", during: "unlock" }),
  },
  {
    name: "unlock, from outside",
    world: "with a passphrase",
    moment: (n) => ({ of: "this", during: "unlock", afterMs: 90 * n }),
    hows: ["kill", "stop, then kill", "stop, then let go"],
  },
  {
    name: "handover, of the old one",
    world: "with two releases",
    moment: (n) => ({ at: nth(GIVES_WAY, n), of: "this", during: "handover" }),
  },
  {
    name: "handover, of the new one",
    world: "with two releases",
    moment: (n) => ({ at: nth(FOLLOWS, n), of: "next", during: "handover" }),
  },
];
