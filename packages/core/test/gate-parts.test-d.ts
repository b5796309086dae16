/** What each kind of step of a gate cannot touch. */
import { expectTypeOf, it } from "vitest";
import type { decide } from "../src/gate/decide.js";
import type { endQuestion } from "../src/gate/end-question.js";
import type {
  AskParts,
  GateParts,
  JudgeParts,
  KeptParts,
  LogParts,
  OpenParts,
  PeopleParts,
  PermitParts,
  TimeParts,
} from "../src/gate/gate-parts.js";
import type { judge } from "../src/gate/judge.js";
import type { performOnce } from "../src/gate/perform.js";
import type { submitAnswer } from "../src/gate/questions.js";

/** Names of the parts that a step sees. */
type Seen<F extends (parts: never, ...rest: never[]) => unknown> = keyof Parameters<F>[0];

/** Names of the parts that a group adds to time and ids. */
type Own<Group> = Exclude<keyof Group, keyof TimeParts>;

it("what decides never sees the vault, and cannot close the gate", () => {
  expectTypeOf<Extract<Seen<typeof decide>, "vault">>().toBeNever();
  expectTypeOf<Parameters<typeof decide>[0]["shutdown"]>().not.toHaveProperty("abort");
});

it("what judges writes nothing, keeps nothing and asks nobody", () => {
  expectTypeOf<Seen<typeof judge>>().toEqualTypeOf<keyof JudgeParts>();
  expectTypeOf<
    Extract<Seen<typeof judge>, Own<LogParts> | Own<KeptParts> | keyof AskParts>
  >().toBeNever();
});

it("what takes an answer or ends a question issues no permit", () => {
  expectTypeOf<Extract<Seen<typeof submitAnswer>, keyof PermitParts | "vault">>().toBeNever();
  expectTypeOf<
    Extract<Seen<typeof endQuestion>, keyof PermitParts | Own<JudgeParts> | keyof PeopleParts>
  >().toBeNever();
});

it("what performs has no questions, no people and no policy", () => {
  expectTypeOf<
    Extract<
      Seen<typeof performOnce>,
      Own<KeptParts> | Own<JudgeParts> | keyof PeopleParts | keyof AskParts | keyof OpenParts
    >
  >().toBeNever();
});

it("each part is in one group", () => {
  type Groups = [
    keyof TimeParts,
    Own<LogParts>,
    Own<KeptParts>,
    Own<JudgeParts>,
    keyof PeopleParts,
    keyof AskParts,
    keyof OpenParts,
    keyof PermitParts,
    "vault",
  ];
  type Twice<G extends readonly unknown[], Before = never> = G extends [infer First, ...infer Rest]
    ? Extract<First, Before> | Twice<Rest, Before | First>
    : never;
  expectTypeOf<Twice<Groups>>().toBeNever();
  expectTypeOf<Groups[number]>().toEqualTypeOf<keyof GateParts>();
});
