import { expectTypeOf, it } from "vitest";
import {
  type Action,
  type AnswerReceipt,
  type ConsentGate,
  type Permit,
  redeem,
  type Verdict,
} from "../src/index.js";

declare const verdict: Verdict;
declare const action: Action;
declare const gate: ConsentGate;

it("a denied verdict has no permit", () => {
  // @ts-expect-error: a permit exists only after `decision === "allow"`
  void verdict.permit;
  if (verdict.decision === "allow") expectTypeOf(verdict.permit).toEqualTypeOf<Permit>();
});

it("an object that looks empty is no permit", () => {
  // @ts-expect-error: only a gate makes a Permit
  redeem({}, action);
});

it("plain data is no action", () => {
  // @ts-expect-error: only the constructors and parseAction make an Action
  void gate({ name: "x", args: {}, meta: { kind: "tool", server: "s" } }, { agent: { id: "a" } });
});

it("a call without an agent does not compile", () => {
  // @ts-expect-error: the context names the agent
  void gate(action, {});
});

it("an unhandled outcome does not compile", () => {
  const handle = (receipt: AnswerReceipt): string => {
    switch (receipt.status) {
      case "final":
      case "counted":
      case "refused":
        return "";
      default:
        // @ts-expect-error: "reshow" is not handled
        return receipt satisfies never;
    }
  };
  void handle;
});
