/** A client without sessions that can show its user a page (MCP 2026-07-28, `input_required`). */
import { describe, expect, it } from "vitest";
import type { Message } from "./support/line-client.js";
import { modern, ORIGIN, URL_MODE, waits } from "./support/waiting-world.js";
import type { Waits } from "./support/waiting-world.js";

const KEY = "acp_approval";
const paramsOf = (more: object = {}): object =>
  modern(URL_MODE, { name: "echo", arguments: { text: "x" }, ...more });
const ask = ({ client }: Waits, id: number, more: object = {}): Promise<Message> =>
  client.request(id, "tools/call", paramsOf(more));
const answered = (action: string): object => ({ inputResponses: { [KEY]: { action } } });

async function asked(w: Waits): Promise<string> {
  const { result } = await ask(w, 1);
  const { request } = await w.channel.question(0);
  expect(result).toEqual({
    resultType: "input_required",
    inputRequests: {
      [KEY]: {
        method: "elicitation/create",
        params: {
          mode: "url",
          message: expect.stringContaining('tool "echo" of server "fs"'),
          url: `${ORIGIN}/#/q/${request.id}`,
        },
      },
    },
    requestState: expect.stringMatching(/^acp\.[\w-]{43}$/),
  });
  return String(result?.["requestState"]);
}

describe("a call that comes back with its state", () => {
  it("waits on, and its server gets it once, without the state, after a yes", async () => {
    const w = waits();
    const requestState = await asked(w);
    const retried = ask(w, 2, { requestState, ...answered("accept") });
    await w.client.request(3, "ping");
    expect(w.calls()).toEqual([]);
    await (await w.channel.question(0)).approve();
    expect((await retried).result).toHaveProperty("content");
    expect(w.calls().map(({ params }) => params)).toEqual([paramsOf()]);
    expect(w.channel.questions).toHaveLength(1);
    expect(w.server.lines.join("\n")).not.toContain("acp.");
  });

  it("finds a decision that came before", async () => {
    const w = waits();
    const requestState = await asked(w);
    await (await w.channel.question(0)).deny("not today");
    const { result } = await ask(w, 2, { requestState, ...answered("accept") });
    expect(result?.["_meta"]).toMatchObject({
      "acp/denied": { code: "consent_denied", reason: "not today" },
    });
    expect(result?.["resultType"]).toBe("complete");
    expect(w.calls()).toEqual([]);
  });

  it.each([["accept"], ["cancel"], ["approved"]])(
    'is not approved by "%s", and hears "pending" after 45 s',
    async (action) => {
      const w = waits();
      const requestState = await asked(w);
      const retried = ask(w, 2, { requestState, ...answered(action) });
      await w.client.request(3, "ping");
      await w.clock.advance(45_000);
      expect((await retried).result).toMatchObject({ resultType: "complete", isError: true });
      expect(w.calls()).toEqual([]);
      // The question is known by now: its page is not shown again.
      const third = ask(w, 4);
      await w.client.request(5, "ping");
      await w.clock.advance(0);
      await (await w.channel.question(0)).approve();
      expect((await third).result).toHaveProperty("content");
      expect(w.channel.questions).toHaveLength(1);
    },
  );

  it("ends the question where the client's user declined", async () => {
    const w = waits();
    const requestState = await asked(w);
    const { result } = await ask(w, 2, { requestState, ...answered("decline") });
    expect(result).toMatchObject({ resultType: "complete", isError: true });
    expect((await (await w.channel.question(0)).session.ended).status).toBe("cancelled");
    expect(w.calls()).toEqual([]);
  });

  it("is refused where the state is used, another request's, tampered with or too old", async () => {
    const w = waits();
    const requestState = await asked(w);
    const { request } = await w.channel.question(0);
    const refused = async (id: number, more: object): Promise<void> => {
      const { error, result } = await ask(w, id, more);
      expect([id, error?.code, result]).toEqual([id, -32_602, undefined]);
    };
    await refused(2, { requestState, arguments: { text: "other" } });
    await refused(3, { requestState, name: "other" });
    await refused(4, { requestState: `${requestState.slice(0, -1)}~` });
    await refused(5, { requestState: requestState.slice(4) });
    await w.clock.advance(request.expiresAtMs - w.clock.now());
    await refused(6, { requestState, ...answered("accept") });
    await refused(7, { requestState, ...answered("accept") });
    expect(w.calls()).toEqual([]);
  });

  it("is refused for another client, and the first one's still works", async () => {
    const [w, other] = [waits(), waits()];
    const requestState = await asked(w);
    const stolen = await ask(other, 1, { requestState, ...answered("accept") });
    expect(stolen.error?.code).toBe(-32_602);
    expect(other.channel.questions).toEqual([]);
    await (await w.channel.question(0)).approve();
    expect((await ask(w, 2, { requestState, ...answered("accept") })).result).toHaveProperty(
      "content",
    );
  });

  it("works once", async () => {
    const w = waits();
    const requestState = await asked(w);
    await (await w.channel.question(0)).approve();
    await ask(w, 2, { requestState, ...answered("accept") });
    expect((await ask(w, 3, { requestState, ...answered("accept") })).error?.code).toBe(-32_602);
    expect(w.calls()).toHaveLength(1);
  });

  it("keeps a state of its server's own apart", async () => {
    const w = waits({
      answer(heard, say) {
        if (heard.method !== "tools/call" || heard.params?.["requestState"] !== undefined)
          return undefined;
        say(
          `{"jsonrpc":"2.0","id":${JSON.stringify(heard.id)},"result":{"resultType":"input_required","requestState":"theirs"}}`,
        );
        return true;
      },
    });
    const requestState = await asked(w);
    await (await w.channel.question(0)).approve();
    const theirs = await ask(w, 2, { requestState, ...answered("accept") });
    expect(theirs.result?.["requestState"]).toBe("theirs");
    // A client keeps one state only, so this one is held instead of sent back with another.
    const third = ask(w, 3, { requestState: "theirs" });
    const next = await w.channel.question(1);
    await w.client.request(4, "ping");
    await w.clock.advance(1_000);
    expect(w.client.lines.some((line) => (JSON.parse(line) as Message).id === 3)).toBe(false);
    await next.approve();
    expect((await third).result).toHaveProperty("content");
    expect(w.calls().at(-1)?.params?.["requestState"]).toBe("theirs");
  });

  it.each([
    ["says nothing", {}],
    ["has forms only", { elicitation: { form: {} } }],
  ])("is held as ever where the client %s", async (_, capabilities) => {
    const w = waits();
    const params = modern(capabilities, { name: "echo", arguments: {} });
    const held = w.client.request(1, "tools/call", params);
    const question = await w.channel.question(0);
    await w.client.request(2, "ping");
    await w.clock.advance(44_000);
    await question.approve();
    expect((await held).result).toHaveProperty("content");
  });
});
