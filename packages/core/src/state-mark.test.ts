import { readFileSync } from "node:fs";
import fc from "fast-check";
import { expect, it } from "vitest";
import type { JsonObject } from "./json/value.js";
import { judgeState, newerMark, readStateMarks, stateSavedEvent } from "./state-mark.js";
import type { StateKind, StateMark, StateResult } from "./state-mark.js";

interface Case {
  readonly name: string;
  readonly file: StateKind;
  readonly events: readonly { readonly event_type: string; readonly metadata: JsonObject }[];
  readonly state: { readonly counter: number; readonly hash: string; readonly sealed: boolean };
  readonly want: StateResult;
}

const { cases }: { readonly cases: readonly Case[] } = JSON.parse(
  readFileSync(new URL("../../../spec/vectors/state-marks.json", import.meta.url), "utf8"),
);

function newestOf(marks: readonly StateMark[]): StateMark | undefined {
  let newest: StateMark | undefined;
  for (const mark of marks) newest = newerMark(newest, mark);
  return newest;
}

it.each(cases)("judgeState() says of $name: $want", ({ file, events, state, want }) => {
  const marks = events
    .flatMap(({ event_type: eventType, metadata }) => readStateMarks({ eventType, metadata }))
    .filter(({ kind }) => kind === file);
  const { sealed: isSealed, ...rest } = state;
  expect(judgeState({ ...rest, isSealed }, newestOf(marks))).toBe(want);
});

const hash = fc.constantFrom("a", "b", "c").map((digit) => `sha256:${digit.repeat(64)}`);
const mark = fc.record({
  kind: fc.constant("grants" as const),
  counter: fc.nat({ max: 6 }),
  hash,
});

it("readStateMarks() gives back what stateSavedEvent() notes", () => {
  fc.assert(
    fc.property(mark, fc.option(fc.nat(), { nil: undefined }), (noted, seq) => {
      const event = stateSavedEvent(noted, { id: "ae_1", atMs: 1 }, seq);
      expect(readStateMarks(event)).toEqual([noted]);
    }),
  );
});

it("judgeState() takes no state for one that counts, whose counter is not above and whose hash is another", () => {
  fc.assert(
    fc.property(fc.array(mark, { minLength: 1 }), mark, fc.boolean(), (marks, state, isSealed) => {
      const newest = newestOf(marks);
      const result = judgeState({ ...state, isSealed }, newest);
      const counts = result === "noted" || result === "newer";
      const highest = Math.max(...marks.map(({ counter }) => counter));
      expect(newest?.counter).toBe(highest);
      expect(counts).toBe(state.hash === newest?.hash || (isSealed && state.counter > highest));
    }),
  );
});
