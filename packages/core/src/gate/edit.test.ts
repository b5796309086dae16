/**
 * Edits: an edited call is judged by all that judges calls, with the same facts, also after a
 * restart.
 */
import { describe, expect, it } from "vitest";
import {
  agent,
  asPending,
  first,
  type Kit,
  last,
  makeKit,
  recordingSink,
  reply,
  type Shown,
} from "../../test/gate-kit.js";
import {
  type Action,
  type ArgumentCheck,
  type Facts,
  type Layer,
  memoryStore,
  toolAction,
  type ToolDefinition,
} from "../index.js";
import { manualClock } from "@acp/testing";
import { parsePolicy } from "../policy.js";

const write = toolAction("files", "write_file", { path: "a.txt", content: "hello" });
const EDIT = { path: "b.txt", content: "hello" };
const edited = { decision: "approved_with_modifications", modifications: EDIT } as const;
const tool: ToolDefinition = {
  server: "files",
  name: "write_file",
  inputSchema: { type: "object", properties: { content: { type: "string" } } },
};
const approvers = ["ann", "bob"].map((id) => ({ id, channel: "test", subject: id }));

/** A check of one argument: enough of a schema to tell good from bad. */
const contentIsText: ArgumentCheck = {
  check: (action: Action, definition) =>
    definition?.inputSchema !== undefined &&
    action.meta.kind === "tool" &&
    typeof (action.args as { content: unknown }).content !== "string"
      ? '"content" must be string'
      : undefined,
};

async function askOne(
  kit: Kit,
  context: Parameters<Kit["gate"]>[1],
): Promise<{ readonly question: Shown; readonly verdict: Promise<unknown> }> {
  const verdict = kit.gate(write, context);
  await kit.settle();
  return { question: first(kit.shown), verdict };
}

describe("an edited call", () => {
  it("is judged with session, task and tool, so that a layer's quorum of two stays two", async () => {
    const seen: Facts[] = [];
    const layer: Layer = {
      name: "two-for-prod",
      judge: (_, facts) => {
        seen.push(facts);
        return {
          effect: "ask",
          ruleId: "two",
          reason: "prod",
          ask: { quorum: facts.session === "prod" && facts.task === "deploy" ? 2 : 1 },
        };
      },
    };
    const kit = makeKit({ layers: [layer], approvers });
    const { question } = await askOne(kit, { agent, session: "prod", task: "deploy", tool });
    expect(question.request.quorum).toBe(2);
    const receipt = await question.session.submit(reply(question, edited), { subject: "ann" });
    expect(receipt).toMatchObject({ status: "reshow", request: { quorum: 2 } });
    expect(
      new Set(seen.map(({ session, task, tool: given }) => [session, task, given?.name].join())),
    ).toEqual(new Set(["prod,deploy,write_file"]));
    expect(
      seen.every((facts) => Object.isFrozen(facts) && Object.isFrozen(facts.tool?.inputSchema)),
    ).toBe(true);
  });

  it("is put to the assessors, who may deny it", async () => {
    const assessed: unknown[] = [];
    const kit = makeKit({
      assessors: [
        {
          name: "scanner",
          assess: (action, { session }) => {
            assessed.push([action.args, session]);
            const isBad = (action.args as { path: string }).path === "b.txt";
            return Promise.resolve(
              isBad ? { effect: "deny", ruleId: "scan", reason: "b.txt is bad" } : undefined,
            );
          },
        },
      ],
    });
    const { question, verdict } = await askOne(kit, { agent, session: "s1" });
    const receipt = await question.session.submit(reply(question, edited));
    expect(receipt).toMatchObject({
      status: "refused",
      code: "modification_denied",
      reason: expect.stringContaining("b.txt is bad") as unknown,
    });
    expect(assessed).toEqual([
      [write.args, "s1"],
      [EDIT, "s1"],
    ]);
    await question.session.submit(reply(question, { decision: "denied" }));
    expect(await verdict).toMatchObject({ decision: "deny" });
  });

  it("that an assessor wants to be asked more strictly becomes a new question", async () => {
    const kit = makeKit({
      approvers,
      assessors: [
        {
          name: "scanner",
          assess: (action) => {
            const isBad = (action.args as { path: string }).path === "b.txt";
            return Promise.resolve(
              isBad
                ? { effect: "ask", ruleId: "scan", reason: "b.txt is shared", ask: { quorum: 2 } }
                : undefined,
            );
          },
        },
      ],
    });
    const { question } = await askOne(kit, { agent });
    expect(
      await question.session.submit(reply(question, edited), { subject: "ann" }),
    ).toMatchObject({
      status: "reshow",
      request: { quorum: 2 },
    });
  });

  it("is not assessed for somebody who may not answer", async () => {
    let assessed = 0;
    const kit = makeKit({
      approvers,
      assessors: [{ name: "scanner", assess: () => Promise.resolve(void assessed++) }],
    });
    const { question } = await askOne(kit, { agent: { id: "ann" } });
    expect(
      await question.session.submit(reply(question, edited), { subject: "ann" }),
    ).toMatchObject({ code: "approver_not_allowed" });
    expect(assessed).toBe(1);
  });

  it("is checked against the tool's schema, like the call itself", async () => {
    const kit = makeKit({ argumentCheck: contentIsText });
    const bad = toolAction("files", "write_file", { path: "a.txt", content: 5 });
    expect(await kit.gate(bad, { agent, tool })).toMatchObject({
      decision: "deny",
      code: "arguments_invalid",
      reason: '"content" must be string',
    });
    expect(kit.shown).toHaveLength(0);
    expect(last(kit.sink.events)).toMatchObject({
      eventType: "policy_evaluated",
      decision: "deny",
      metadata: { code: "arguments_invalid", denied: '"content" must be string' },
    });
    const { question, verdict } = await askOne(kit, { agent, tool });
    const wrong = {
      decision: "approved_with_modifications",
      modifications: { path: "a.txt", content: 5 },
    } as const;
    expect(await question.session.submit(reply(question, wrong))).toMatchObject({
      status: "refused",
      code: "modification_invalid",
    });
    expect(last(kit.sink.events)).toMatchObject({
      eventType: "consent_refused",
      metadata: { code: "modification_invalid" },
    });
    expect(await question.session.submit(reply(question, edited))).toMatchObject({
      status: "final",
    });
    expect(await verdict).toMatchObject({ code: "consent_modified" });
  });

  it("takes of a limit what goes beyond what its question took, also where it is shown again", async () => {
    const byPath: Layer = {
      name: "meter",
      judge: ({ args }) => {
        const { path, amount = 1 } = args as { path: string; amount?: number };
        return {
          effect: "ask",
          ruleId: "metered",
          reason: "metered",
          ask: { quorum: path.endsWith("two") ? 2 : 1 },
          limits: [
            {
              key: path.startsWith("other") ? "other" : "money",
              amount,
              max: 10,
              windowMs: 60_000,
            },
          ],
        };
      },
    };
    const kit = makeKit({ layers: [byPath], approvers });
    const { question } = await askOne(kit, { agent });
    const edit = async (
      modifications: Record<string, string | number>,
      of: Shown = question,
    ): Promise<unknown> =>
      of.session.submit(reply(of, { decision: "approved_with_modifications", modifications }), {
        subject: "ann",
      });
    expect(await edit({ path: "a", amount: 11 })).toMatchObject({ code: "rate_limited" });
    expect(await edit({ path: "other", amount: 11 })).toMatchObject({ code: "rate_limited" });
    expect(await edit({ path: "two", amount: 11 })).toMatchObject({ code: "rate_limited" });
    expect(await edit({ path: "two", amount: 10 })).toMatchObject({ status: "reshow" });
    expect(await kit.gate(write, { agent })).toMatchObject({ code: "rate_limited" });
    await kit.settle();
    expect(await edit({ path: "other two" }, last(kit.shown))).toMatchObject({ status: "reshow" });
    await kit.settle();
    expect(await edit({ path: "two", amount: 10 }, last(kit.shown))).toMatchObject({
      status: "reshow",
    });
  });

  it("is judged after a restart as it was before it", async () => {
    const [clock, audit] = [manualClock(), recordingSink()];
    const store = memoryStore(clock);
    const judged: (readonly [unknown, unknown, unknown])[] = [];
    const layer: Layer = {
      name: "watch",
      judge: (_, { session, task, tool: given }) =>
        void judged.push([session, task, given?.inputSchema]),
    };
    const options = {
      clock,
      audit,
      store,
      approvers,
      layers: [layer],
      argumentCheck: contentIsText,
    };
    const before = makeKit(options);
    const pending = asPending(
      await before.gate.open(write, { agent, session: "s1", task: "t1", tool }),
    );
    await pending.defer();
    // What a file keeps is JSON: the record is read back from its text.
    const kept = await store.pending.get(pending.requestId);
    expect(kept?.context).toEqual({ session: "s1", task: "t1", tool });
    const reread = {
      ...store.pending,
      get: async (id: string) =>
        JSON.parse(JSON.stringify(await store.pending.get(id))) as typeof kept,
    };
    const after = makeKit({ ...options, store: { ...store, pending: reread } });
    expect(await after.gate.resume()).toBe(1);
    await after.settle();
    judged.length = 0;
    const question = first(after.shown);
    const wrong = {
      decision: "approved_with_modifications",
      modifications: { path: "a.txt", content: 5 },
    } as const;
    expect(await question.session.submit(reply(question, wrong), { subject: "ann" })).toMatchObject(
      { code: "modification_invalid" },
    );
    expect(
      await question.session.submit(reply(question, edited), { subject: "ann" }),
    ).toMatchObject({ status: "final" });
    expect(judged).toEqual([
      ["s1", "t1", tool.inputSchema],
      ["s1", "t1", tool.inputSchema],
    ]);
  });
});

describe("an open question that a retry finds", () => {
  const policy = parsePolicy({ version: "1", default_action: "ask" });

  it.each([
    ["another session", { session: "s2", task: "t1" }],
    ["another task", { session: "s1", task: "t2" }],
    ["no task", { session: "s1" }],
  ])("is asked anew for %s", async (_, other) => {
    const kit = makeKit({ policy });
    const pending = asPending(await kit.gate.open(write, { agent, session: "s1", task: "t1" }));
    await pending.defer();
    expect(asPending(await kit.gate.open(write, { agent, ...other })).requestId).not.toBe(
      pending.requestId,
    );
    expect(
      asPending(await kit.gate.open(write, { agent, session: "s1", task: "t1" })).requestId,
    ).toBe(pending.requestId);
  });

  it("is asked anew where the judges have become stricter", async () => {
    let quorum = 1;
    const layer: Layer = {
      name: "moody",
      judge: () => ({ effect: "ask", ruleId: "moody", reason: "moody", ask: { quorum } }),
    };
    const kit = makeKit({ layers: [layer], approvers });
    const pending = asPending(await kit.gate.open(write, { agent }));
    await pending.defer();
    quorum = 2;
    expect(asPending(await kit.gate.open(write, { agent })).requestId).not.toBe(pending.requestId);
  });
});

describe("session and task", () => {
  it("stand in every event of a call and of its question", async () => {
    const kit = makeKit();
    const pending = kit.gate.run(write, () => Promise.resolve(1), {
      agent,
      session: "s1",
      task: "t1",
    });
    await kit.settle();
    const question = first(kit.shown);
    await question.session.submit(reply(question, { decision: "approved" }));
    expect(await pending).toMatchObject({ ran: true });
    expect(kit.sink.events.length).toBeGreaterThan(5);
    for (const { metadata } of kit.sink.events)
      expect(metadata).toMatchObject({ session: "s1", task: "t1" });
  });
});
