import { describe, expect, it } from "vitest";
import { INITIALIZE, INITIALIZED, call, relayWorld, result } from "../../test/relay-world.js";

describe("createRelay()", () => {
  it("passes lines on, and ends with the session's exit code", async () => {
    const at = relayWorld();
    await at.write(INITIALIZE + call(1));
    await at.answer(0, result(0) + result(1));
    expect(at.sessions[0]?.got()).toBe(INITIALIZE + call(1));
    expect(at.said()).toBe(result(0) + result(1));
    await at.end();
    expect(at.sessions[0]?.got()).toMatch(/END$/);
    await at.lose(0, { code: 3 });
    expect(at.exits).toEqual([3]);
  });

  it("answers what was in work once, repeats the handshake with its bytes and nothing else", async () => {
    const at = relayWorld();
    const read = '{"jsonrpc":"2.0","id":"a","method":"resources/read"}\n';
    await at.write(INITIALIZE);
    await at.answer(0, result(0));
    await at.write(INITIALIZED + call(1) + read);
    await at.answer(0, `${result(1)}{"jsonrpc":"2.0","id":"a","res`);
    await at.lose(0);
    const lines = at.said().trim().split("\n");
    expect(lines).toHaveLength(3);
    expect(JSON.parse(lines[2] ?? "")).toMatchObject({
      id: "a",
      error: { data: { code: "outcome_unknown", retryable: false } },
    });
    // Not before the handshake is through.
    await at.write(call(2));
    expect(at.sessions[1]?.got()).toBe(INITIALIZE);
    await at.answer(1, result(0));
    expect(at.sessions[1]?.got()).toBe(INITIALIZE + INITIALIZED + call(2));
    await at.answer(1, result(2));
    expect(at.said().split(result(0))).toHaveLength(2);
    expect(at.said()).toContain("notifications/tools/list_changed");
    expect(at.said()).toContain(result(2));
  });

  it("gives the answer to a handshake that was in work, once", async () => {
    const at = relayWorld();
    await at.write(INITIALIZE);
    await at.lose(0);
    expect(at.said()).toBe("");
    await at.answer(1, result(0));
    expect(at.said()).toBe(result(0));
  });

  it("sends a line that was not begun to the next session, and one that was begun to none", async () => {
    const at = relayWorld(undefined, INITIALIZE.length + 10);
    const read = (id: number): string => `{"jsonrpc":"2.0","id":${id},"method":"resources/read"}\n`;
    await at.write(INITIALIZE);
    await at.answer(0, result(0));
    await at.write(read(1) + read(2));
    await at.lose(0);
    expect(at.said()).toContain('"id":1,"error"');
    expect(at.said()).not.toContain('"id":2');
    await at.answer(1, result(0));
    // The room of this session ends in the middle again.
    expect(at.sessions[1]?.got()).toBe(INITIALIZE + read(2).slice(0, 10));
  });

  it("sends a call once more that was not forwarded, by its number, and answers one that was", async () => {
    const at = relayWorld();
    await at.write(INITIALIZE);
    await at.answer(0, result(0));
    await at.write(call(1) + call(2) + call("c"));
    await at.answer(0, result(1));
    expect(at.sessions[0]?.calls).toEqual([
      ["1", 1],
      ["2", 2],
      ['"c"', 3],
    ]);
    at.pass(500);
    await at.lose(0);
    await at.answer(1, result(0));
    expect(at.sessions[1]?.asked).toEqual([
      { n: 2, ms: 500 },
      { n: 3, ms: 500 },
    ]);
    // Nothing overtakes what may be sent once more.
    await at.write(call(4));
    expect(at.sessions[1]?.got()).toBe(INITIALIZE);
    await at.known(1, 3);
    expect(at.sessions[1]?.got()).toBe(INITIALIZE + call("c") + call(4));
    expect(at.sessions[1]?.calls).toEqual([
      ['"c"', 3],
      ["4", 4],
    ]);
    expect(at.said()).toContain('"id":2,"error":{"code":-32000');
    await at.answer(1, result("c") + result(4));
    for (const id of ["1", "2", '"c"', "4"]) expect(at.said().split(`"id":${id},`)).toHaveLength(2);
  });

  it("never sends a call a third time, and forgets none that was not sent again", async () => {
    const at = relayWorld(undefined, INITIALIZE.length + call(1).length);
    await at.write(INITIALIZE);
    await at.answer(0, result(0));
    await at.write(call(1));
    await at.lose(0);
    await at.answer(1, result(0));
    await at.known(1, 1);
    expect(at.sessions[1]?.got()).toBe(INITIALIZE + call(1));
    await at.lose(1);
    expect(at.said()).toMatch(/"id":1,"error".*ended twice.*outcome_unknown/);
    at.pass(60_000);
    await at.answer(2, result(0));
    expect(at.sessions[2]?.got()).toBe(INITIALIZE);
    expect(at.sessions[2]?.asked).toEqual([]);
    expect(at.said().split('"id":1,')).toHaveLength(2);
  });

  it("sends a call once more after every handover, and counts none of them as a crash", async () => {
    const at = relayWorld();
    await at.write(INITIALIZE);
    await at.answer(0, result(0));
    await at.write(call(1));
    for (const session of [0, 1, 2]) {
      await at.lose(session, "again");
      await at.answer(session + 1, result(0));
      await at.known(session + 1, 1);
      expect(at.sessions[session + 1]?.got()).toBe(INITIALIZE + call(1));
      expect(at.sessions[session + 1]?.calls).toEqual([["1", 1]]);
    }
    // One crash more or less makes it the first one.
    await at.lose(3);
    await at.answer(4, result(0));
    await at.known(4, 1);
    await at.lose(4, "again");
    await at.answer(5, result(0));
    await at.known(5, 1);
    expect(at.sessions[5]?.got()).toBe(INITIALIZE + call(1));
    expect(at.said()).not.toContain('"error"');
    await at.lose(5);
    expect(at.said()).toMatch(/"id":1,"error".*ended twice.*outcome_unknown/);
  });

  it("asks the next session again where one was lost before it said how far calls came", async () => {
    const at = relayWorld();
    await at.write(INITIALIZE);
    await at.answer(0, result(0));
    await at.write(call(1));
    await at.lose(0);
    await at.answer(1, result(0));
    await at.lose(1);
    expect(at.said()).not.toContain('"error"');
    await at.answer(2, result(0));
    await at.known(2, 1);
    expect(at.sessions[2]?.got()).toBe(INITIALIZE + call(1));
  });

  it("tries a session twice before it answers calls of which nothing is known", async () => {
    const at = relayWorld((count) => (count === 1 ? "it does not start" : undefined));
    await at.write(INITIALIZE);
    await at.answer(0, result(0));
    await at.write(call(1));
    await at.lose(0);
    expect(at.said()).not.toContain('"error"');
    await at.answer(1, result(0));
    await at.known(1, 1);
    expect(at.sessions[1]?.got()).toBe(INITIALIZE + call(1));
  });

  it("answers calls that nobody can ask about any more", async () => {
    const at = relayWorld((count) =>
      count === 1 || count === 2 ? "it does not start" : undefined,
    );
    await at.write(INITIALIZE);
    await at.answer(0, result(0));
    await at.write(call(1));
    await at.lose(0);
    expect(at.said()).toMatch(/"id":1,"error".*outcome_unknown/);
    at.pass(1_000);
    await at.write(call(2));
    await at.answer(1, result(0));
    expect(at.sessions[1]?.asked).toEqual([]);
    expect(at.sessions[1]?.got()).toBe(INITIALIZE + call(2));
  });

  it("drops the answer to a server that is gone, and lets no new one ask by the same id", async () => {
    const at = relayWorld();
    await at.write(INITIALIZE);
    await at.answer(0, result(0) + '{"jsonrpc":"2.0","id":7,"method":"elicitation/create"}\n');
    await at.lose(0);
    await at.answer(1, result(0));
    await at.answer(1, '{"jsonrpc":"2.0","id":7,"method":"elicitation/create"}\n');
    expect(at.sessions[1]?.got()).toContain("request_lost");
    expect(at.said().split("elicitation/create")).toHaveLength(2);
    await at.write(result(7));
    expect(at.sessions[1]?.got()).not.toContain(result(7));
  });

  it("backs off after three losses in a minute, and says so to each request", async () => {
    const at = relayWorld();
    await at.write(INITIALIZE);
    for (const session of [0, 1, 2]) {
      await at.answer(session, result(0));
      await at.lose(session);
    }
    expect(at.sessions).toHaveLength(3);
    await at.write(call(5));
    expect(at.said()).toContain("resident.log");
    expect(at.sessions).toHaveLength(3);
    at.pass(30_000);
    await at.write(call(6));
    expect(at.sessions).toHaveLength(4);
    await at.answer(3, result(0));
    expect(at.sessions[3]?.got()).toBe(INITIALIZE + call(6));
  });

  it("opens a session again only for a request, where the resident was told to end", async () => {
    const at = relayWorld();
    await at.write(INITIALIZE);
    await at.answer(0, result(0));
    await at.lose(0, "left");
    expect(at.sessions).toHaveLength(1);
    await at.write(call(1));
    expect(at.sessions).toHaveLength(2);
  });

  it("subscribes again and sets the log level again, and tells nobody of it", async () => {
    const ask = (id: number, method: string, params: object): string =>
      `${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`;
    const at = relayWorld();
    await at.write(INITIALIZE);
    const initialized =
      '{"jsonrpc":"2.0","id":0,"result":{"capabilities":{"tools":{},"resources":{},"logging":{}}}}\n';
    await at.answer(0, initialized);
    await at.write(
      INITIALIZED +
        ask(1, "resources/subscribe", { uri: "a" }) +
        ask(2, "resources/subscribe", { uri: "b" }) +
        ask(3, "logging/setLevel", { level: "info" }) +
        ask(4, "resources/unsubscribe", { uri: "a" }) +
        ask(5, "logging/setLevel", { level: "debug" }) +
        ask(6, "resources/read", { uri: "c" }),
    );
    for (const id of [1, 2, 3, 4, 5, 6]) await at.answer(0, result(id));
    await at.lose(0);
    const before = at.said();
    await at.answer(1, initialized);
    const sent = (at.sessions[1]?.got() ?? "").trim().split("\n").slice(2);
    const messages = sent.map((line): { id: string } => JSON.parse(line));
    expect(messages).toMatchObject([
      { method: "resources/subscribe", params: { uri: "b" } },
      { method: "logging/setLevel", params: { level: "debug" } },
    ]);
    for (const { id } of messages) await at.answer(1, result(id));
    const lists = (
      at
        .said()
        .slice(before.length)
        .match(/notifications\/\w+/g) ?? []
    ).toSorted();
    expect(lists).toEqual(["notifications/resources", "notifications/tools"]);
    expect(at.said()).not.toContain("acp-again");
    // An answer that nobody asked for is passed on, as ever.
    await at.answer(1, result(messages[0]?.id ?? ""));
    expect(at.said()).toContain("acp-again");
  });

  it("has room for what it sends again, and sends nothing of it to a session after the next", async () => {
    const uri = `start:${"u".repeat(200)}`;
    const subscribe = `{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":"${uri}"}}\n`;
    const room = INITIALIZE.length + INITIALIZED.length + subscribe.length;
    const at = relayWorld(undefined, room);
    await at.write(INITIALIZE);
    await at.answer(0, result(0));
    await at.write(INITIALIZED + subscribe);
    await at.answer(0, result(1));
    for (const session of [0, 1]) {
      await at.lose(session);
      await at.answer(session + 1, result(0));
      const got = at.sessions[session + 1]?.got() ?? "";
      expect(got.length).toBe(room);
      expect(got.split("start:")).toHaveLength(2);
    }
  });

  it("opens another session at once where it is told to, and counts no loss", async () => {
    const at = relayWorld();
    await at.write(INITIALIZE);
    for (let session = 0; session < 5; session++) {
      await at.answer(session, result(0));
      await at.lose(session, "again");
      expect(at.sessions).toHaveLength(session + 2);
    }
    await at.answer(5, result(0));
    expect(at.said().split("list_changed")).toHaveLength(6);
  });

  it("holds requests back where it is told to, and only those, until another session is open", async () => {
    const at = relayWorld();
    await at.write(INITIALIZE);
    await at.answer(0, result(0));
    at.sessions[0]?.handlers.onHold();
    const answered = '{"jsonrpc":"2.0","id":"s","result":{}}\n';
    await at.write(call(1) + answered);
    // A server may wait for what the client says, and finishes then.
    expect(at.sessions[0]?.got()).toMatch(/^.*initialize.*\n(?:HELD)+\{.*"id":"s".*\}\n(?:HELD)*$/);
    await at.end();
    expect(at.exits).toEqual([]);
    await at.lose(0, "again");
    expect(at.exits).toEqual([]);
    await at.answer(1, result(0));
    expect(at.sessions[1]?.got()).toBe(`${INITIALIZE}${call(1)}END`);
    expect(at.said()).not.toContain("error");
  });

  it("says that it holds back once a request that was begun is sent whole", async () => {
    const at = relayWorld(undefined, INITIALIZE.length + 10);
    await at.write(INITIALIZE);
    await at.answer(0, result(0));
    await at.write(call(1));
    at.sessions[0]?.handlers.onHold();
    expect(at.sessions[0]?.got()).not.toContain("HELD");
    await at.room(0, 1_000);
    expect(at.sessions[0]?.got()).toMatch(/^.*initialize.*\n.*"id":1.*\nHELD$/);
  });

  it("shows why there is none in the handshake, and goes on when there is one", async () => {
    const at = relayWorld((count) => (count === 0 ? "run acp resident serve" : undefined));
    await at.write(INITIALIZE + call(1));
    expect(at.said()).toContain('"instructions":"run acp resident serve"');
    expect(at.said()).toContain('"code":"resident_unavailable","retryable":true');
    at.pass(1_000);
    await at.write(call(2));
    expect(at.sessions[0]?.got()).toBe(INITIALIZE);
    await at.answer(0, result(0));
    expect(at.sessions[0]?.got()).toBe(INITIALIZE + call(2));
    expect(at.said()).toContain("list_changed");
    await at.end();
    expect(at.exits).toEqual([]);
  });

  it("ends where its client goes and there is no session", async () => {
    const at = relayWorld(() => "nothing");
    await at.end();
    expect(at.exits.length).toBeGreaterThan(0);
  });
});
