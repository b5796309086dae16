import {
  type AskSession,
  type Channel,
  ConsentError,
  type ConsentRequest,
  makeResponse,
} from "@acp/core";
import { describe, expect, it } from "vitest";
import type { ChannelUnderTest } from "./channel-case.js";
import { channelConformance } from "./channel-conformance.js";

/** How a channel can be wrong; every flaw must make some case fail. */
interface Flaws {
  /** Leaves ended questions on the screen. */
  readonly keepsEnded?: boolean;
  /** Takes the end of the transport for a yes. */
  readonly approvesAtBreak?: boolean;
  /** Gives an answer to whatever question is oldest. */
  readonly mixesUp?: boolean;
  /** Says yes by itself. */
  readonly eager?: boolean;
  /** Turns a no into a yes. */
  readonly deaf?: boolean;
  /** Says that the person answered, whoever did. */
  readonly credulous?: boolean;
  /** Replaces a foreign nonce by the right one. */
  readonly mends?: boolean;
  /** Types the word for the person. */
  readonly types?: boolean;
  /** A name that no log takes. */
  readonly name?: string;
}

interface Shown {
  readonly request: ConsentRequest;
  readonly session: AskSession;
}

const PERSON = "local";

/** A small right channel over a "transport" in memory, and its flawed variants. */
function makeChannel(flaws: Flaws): ChannelUnderTest {
  const shown = new Map<string, Shown>();
  const ever = new Map<string, Shown>();
  let broken = false;
  const claimFor = (
    { request }: Shown,
    decision: "approved" | "denied",
    { nonce = request.nonce, confirmation = "" } = {},
  ) =>
    makeResponse(
      { id: request.id, nonce },
      { decision, nowMs: Date.now(), channel: "memory", confirmation },
    );
  const channel: Channel = {
    name: flaws.name ?? "memory",
    async deliver(request, session) {
      if (broken) {
        if (flaws.approvesAtBreak === true)
          await session.submit(claimFor({ request, session }, "approved"));
        throw new ConsentError("channel_failed", "Cannot deliver: the transport is cut");
      }
      const entry = { request, session };
      shown.set(request.id, entry);
      ever.set(request.id, entry);
      void session.ended.then(() => (flaws.keepsEnded === true ? false : shown.delete(request.id)));
      if (flaws.eager === true) await session.submit(claimFor(entry, "approved"));
    },
  };
  return {
    channel,
    shown: async () => [...shown.keys()],
    async answer(id, kind) {
      const [oldest] = shown.values();
      const entry = flaws.mixesUp === true ? oldest : ever.get(id);
      if (entry === undefined || broken) return;
      const nonce =
        kind === "wrong_nonce" && flaws.mends !== true ? "n_other" : entry.request.nonce;
      const decision = kind === "deny" && flaws.deaf !== true ? "denied" : "approved";
      const subject = kind === "stranger" && flaws.credulous !== true ? "somebody" : PERSON;
      const confirmation = kind === "confirm" || flaws.types === true ? "approve" : "";
      await entry.session.submit(claimFor(entry, decision, { nonce, confirmation }), { subject });
    },
    async breakTransport() {
      broken = true;
      if (flaws.approvesAtBreak !== true) return;
      for (const entry of shown.values()) await entry.session.submit(claimFor(entry, "approved"));
    },
    [Symbol.asyncDispose]: async () => undefined,
  };
}

const suite = (flaws: Flaws = {}) =>
  channelConformance(async () => makeChannel(flaws), {
    kinds: ["approve", "deny", "confirm", "wrong_nonce", "stranger"],
    patienceMs: 300,
  });

async function failing(flaws: Flaws): Promise<readonly string[]> {
  const results = await Promise.all(
    suite(flaws).map(async (each) => {
      try {
        await each.run();
        return [];
      } catch {
        return [each.name];
      }
    }),
  );
  return results.flat();
}

describe("channelConformance() passes a right channel", () => {
  it.each(suite().map((each) => [each.name, each] as const))("%s", async (_name, each) => {
    await expect(each.run()).resolves.toBeUndefined();
  });
});

describe("channelConformance() finds a channel", () => {
  it.each<[string, Flaws, string]>([
    [
      "that keeps ended questions",
      { keepsEnded: true },
      "deliver() takes a question back that ended",
    ],
    [
      "that takes a dead transport for a yes",
      { approvesAtBreak: true },
      "deliver() leaves a question open whose transport dies",
    ],
    [
      "that says yes where nothing carries the question",
      { approvesAtBreak: true },
      "deliver() rejects or leaves the question open where nothing carries it",
    ],
    [
      "that mixes questions up",
      { mixesUp: true },
      "deliver() keeps two open questions apart, answered in reverse order",
    ],
    [
      "that answers late for another",
      { mixesUp: true },
      "deliver() survives an answer that comes late",
    ],
    [
      "that answers twice for another",
      { mixesUp: true },
      "deliver() survives an answer given twice",
    ],
    ["that approves by itself", { eager: true }, "deliver() takes a question back that ended"],
    [
      "that turns a denial into an approval",
      { deaf: true },
      "deliver() shows a question, and submits its deny once",
    ],
    [
      "that takes anybody for the person",
      { credulous: true },
      "deliver() leaves a question open that a stranger answered",
    ],
    [
      "that mends a nonce",
      { mends: true },
      "deliver() leaves a question open whose answer was made for another",
    ],
    [
      "that types the word for the person",
      { types: true },
      "deliver() leaves a critical question open that was approved without its word",
    ],
    ["whose name no log takes", { name: "Memory 1" }, "name is one that the audit log takes"],
  ])("%s", async (_what, flaws, name) => {
    expect(await failing(flaws)).toContain(name);
  });

  it("whose person can express less, and leaves those cases out", () => {
    const names = channelConformance(async () => makeChannel({}), { kinds: ["approve"] }).map(
      ({ name }) => name,
    );
    expect(names).not.toContain("deliver() leaves a question open that a stranger answered");
    expect(names).not.toContain("deliver() shows a question, and submits its deny once");
  });
});
