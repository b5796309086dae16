/** Our own vectors, spec/vectors/http-proxy.json: who asks, and how a no is written. */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { type AgentAccount, type Attribution, createAgents } from "../src/agents.js";
import { type Refusal, RefusedError, refusalBytes } from "../src/refusals.js";

interface CallerCase {
  readonly name: string;
  readonly kind: "caller";
  readonly headers: readonly (readonly [string, string])[];
  readonly default?: string;
  readonly attribution?: Attribution;
  readonly expect: unknown;
}

interface RefusalCase {
  readonly name: string;
  readonly kind: "refusal";
  readonly refusal: Refusal;
  readonly expect: string;
}

const { accounts, cases } = JSON.parse(
  readFileSync(new URL("../../../spec/vectors/http-proxy.json", import.meta.url), "utf8"),
) as {
  readonly accounts: readonly AgentAccount[];
  readonly cases: readonly (CallerCase | RefusalCase)[];
};

function callerOf({ headers, default: id, attribution = "none" }: CallerCase): unknown {
  try {
    return createAgents({
      agents: accounts,
      attribution,
      ...(id === undefined ? {} : { agent: { id } }),
    })(headers.flat()).agent;
  } catch (error) {
    if (error instanceof RefusedError) return { error: error.refusal.code };
    throw error;
  }
}

describe("spec/vectors/http-proxy.json", () => {
  it.each(cases.filter((each) => each.kind === "caller"))("createAgents() $name", (each) => {
    expect(callerOf(each)).toEqual(each.expect);
  });

  it.each(cases.filter((each) => each.kind === "refusal"))(
    "refusalBytes() $name",
    ({ refusal, expect: want }) => {
      expect(refusalBytes(refusal).toString()).toBe(want);
    },
  );
});
