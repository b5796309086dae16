import { describe, expect, it } from "vitest";
import type { JsonObject } from "@acp/core";
import { createConsentSigner, generateKeyPair } from "@acp/core/proof";
import { CALLS, decided } from "../../test/why-world.js";
import type { Invocation } from "../command.js";
import { proofOf } from "./proof-status.js";
import { type Story, storiesOf } from "./story.js";

const keys = generateKeyPair();
const io = { cwd: "/", env: {}, userHome: "/" } as Invocation["io"];
const stateOf = async (story: Story, key = keys.publicKey): Promise<string> => {
  const { state, code } = await proofOf(story, { values: { key }, io });
  return code === undefined ? state : `${state} ${code}`;
};

async function signed(name: string): Promise<Story> {
  const calls = CALLS.filter((call) => call.name === name);
  const { events } = await decided(calls, { signer: createConsentSigner(keys) });
  const [story] = storiesOf(
    events.map((event, seq) => ({
      event: { ...event, seq, previousHash: null, hash: "" },
      log: "audit.jsonl",
    })),
  );
  if (story === undefined) throw new Error("no story");
  return story;
}

function changed(story: Story, type: string, change: object): Story {
  return {
    ...story,
    found: story.found.map(({ event, log }) => ({
      event: event.eventType === type ? { ...event, ...change } : event,
      log,
    })),
  };
}

describe("proofOf()", () => {
  it.each(["approved", "denied by a person", "approved with modifications", "several approvers"])(
    "verifies what was signed: %s",
    async (name) => {
      expect(await stateOf(await signed(name))).toBe("verified");
    },
  );

  it("says that nothing is to be proven where nobody answered", async () => {
    expect(await stateOf(await signed("allowed"))).toBe("none");
    expect(await stateOf(await signed("expired"))).toBe("none");
  });

  it("does not verify another key's, a changed answer, or an end that says the opposite", async () => {
    const story = await signed("denied by a person");
    expect(await stateOf(story, generateKeyPair().publicKey)).toMatch(/^not_verified /);
    const end = story.found.find(({ event }) => event.eventType === "consent_denied")?.event;
    const [response] = (end?.metadata["responses"] ?? []) as readonly JsonObject[];
    const responses = [{ ...response, reason: "fine" }];
    const metadata = { ...end?.metadata, responses };
    expect(await stateOf(changed(story, "consent_denied", { metadata }))).toMatch(/^not_verified /);
    const opposite = { eventType: "consent_approved", decision: "approved" };
    expect(await stateOf(changed(story, "consent_denied", opposite))).toBe(
      "not_verified decision_differs",
    );
  });
});
