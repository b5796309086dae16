/**
 * Everything that can go wrong between a gate and its people, under a real gate and over real
 * sockets: no action is performed that nobody approved, and none twice. The last line says how many
 * were.
 */
import type { ServerResponse } from "node:http";
import { askDouble, manualClock, sampleRequest } from "@acp/testing";
import { afterAll, afterEach, describe, expect, it, vi } from "vitest";
import { createWebhookChannel } from "../src/index.js";
import { type Bench, makeBench, reply, runOut, shown, stopBenches, yesTo } from "./gate-bench.js";
import { SECRET, type Taken, later, signed, startReceiver } from "./receiver.js";
import { WRONG_CALLBACKS } from "./wrong-callbacks.js";

const tally = { faults: 0, released: 0, approved: 0 };

afterEach(stopBenches);

afterAll(() => {
  process.stdout.write(
    `fault matrix: ${tally.faults} faults, ${tally.released - tally.approved} unapproved actions released\n`,
  );
});

function score(bench: Bench, approved: readonly string[] = []): void {
  tally.faults += 1;
  tally.released += bench.performed.length;
  tally.approved += approved.length;
  expect(bench.performed).toEqual(approved);
}

describe("control", () => {
  it("an approval by callback releases, once", async () => {
    const bench = await makeBench();
    const verdict = bench.ask("a");
    const question = await shown(bench);
    expect(
      await bench.call(signed(yesTo(question, bench.clock), { nowMs: bench.clock.now() })),
    ).toMatchObject({ status: 200 });
    expect(await verdict).toBe("consent_approved");
    expect(bench.performed).toEqual(["a"]);
  });

  it("an approval in the reply releases, once", async () => {
    const bench = await makeBench();
    bench.receiver.respond = (taken, response) =>
      reply(signed(yesTo(taken, bench.clock), { nowMs: bench.clock.now() }), response);
    expect(await bench.ask("a")).toBe("consent_approved");
    expect(bench.performed).toEqual(["a"]);
  });
});

describe("the receiver", () => {
  it.each([301, 302, 307, 400, 401, 403, 404, 410])(
    "refuses with %i: denied at once",
    async (status) => {
      const bench = await makeBench();
      bench.receiver.respond = (_taken, response) =>
        void response.writeHead(status, { location: "/yes" }).end();
      expect(await bench.ask("a")).toBe("channel_failed");
      score(bench);
    },
  );

  const silences: readonly (readonly [string, (taken: Taken, response: ServerResponse) => void])[] =
    [
      ["hangs", () => undefined],
      ["answers 500 for ever", (_taken, response) => void response.writeHead(500).end()],
      [
        "answers 429 and asks for a day",
        (_taken, response) => void response.writeHead(429, { "retry-after": "86400" }).end(),
      ],
      [
        "breaks off in the middle of its reply",
        (_taken, response) =>
          void response.writeHead(200).write('{"type"', () => response.destroy()),
      ],
      ["cuts the connection", (_taken, response) => void response.destroy()],
      ["says later and never answers", later],
      ["says ok", (_taken, response) => void response.writeHead(200).end("ok")],
      [
        "says approved: no",
        (_taken, response) => void response.writeHead(200).end('{"approved":"no"}'),
      ],
      [
        "sends a page",
        (_taken, response) =>
          void response.writeHead(200, { "content-type": "text/html" }).end("<h1>approved</h1>"),
      ],
      [
        "sends more than it may",
        (_taken, response) => void response.writeHead(200).end(Buffer.alloc(3 * 1024 * 1024, 32)),
      ],
    ];

  it.each(silences)("%s: expires", async (_name, respond) => {
    const bench = await makeBench();
    bench.receiver.respond = respond;
    const verdict = bench.ask("a");
    await shown(bench);
    expect(await runOut(bench, verdict)).toBe("consent_expired");
    score(bench);
  });

  it("is not there: expires", async () => {
    const bench = await makeBench();
    await bench.receiver.close();
    expect(await runOut(bench, bench.ask("a"))).toBe("consent_expired");
    score(bench);
  });

  it("comes back after two failures: its answer counts", async () => {
    const bench = await makeBench();
    let failures = 0;
    bench.receiver.respond = (taken, response) => {
      if (failures++ < 2) response.writeHead(503).end();
      else reply(signed(yesTo(taken, bench.clock), { nowMs: bench.clock.now() }), response);
    };
    expect(await runOut(bench, bench.ask("a"))).toBe("consent_approved");
    score(bench, ["a"]);
    expect(
      new Set(
        bench.receiver.taken
          .filter(({ json }) => json["type"] === "consent_request")
          .map(({ id }) => id),
      ).size,
    ).toBe(1);
  });

  it.each([
    "127.0.0.1",
    "10.0.0.1",
    "169.254.169.254",
    "::1",
    "::ffff:127.0.0.1",
    "64:ff9b::7f00:1",
    "fd00::1",
  ])("has a name that resolves to %s: denied, and nothing connects", async (address) => {
    const bench = await makeBench({
      url: "https://receiver.example/",
      resolve: async () => [address],
    });
    expect(await bench.ask("a")).toBe("channel_failed");
    score(bench);
    expect(bench.receiver.taken).toEqual([]);
  });

  it("has a name that resolves to another machine a moment later: the connection goes where the check looked", async () => {
    const clock = manualClock();
    await using inner = await startReceiver(() => clock.now());
    const { port } = new URL(inner.url);
    // Whoever looked a second time would go elsewhere. A first look at what may not be reached is
    // refused above.
    const answers = [["127.0.0.1"], ["8.8.8.8"]];
    let asked = 0;
    const url = `http://localhost:${port}/acp`;
    await using channel = createWebhookChannel({
      url,
      secret: SECRET,
      clock,
      resolve: async () => answers[asked++] ?? [],
    });
    const ask = askDouble(sampleRequest({ createdAtMs: clock.now() }));
    await channel.deliver(ask.request, ask.session);
    expect([asked, inner.shown()]).toEqual([1, [ask.request.id]]);
    tally.faults += 1;
  });
});

describe("the callback", () => {
  it.each(WRONG_CALLBACKS)("%s is refused with %s: expires", async (_name, code, make) => {
    const bench = await makeBench();
    const verdict = bench.ask("a");
    const question = await shown(bench);
    expect(await bench.call(make(question, bench.clock))).toMatchObject({ code });
    expect(await runOut(bench, verdict)).toBe("consent_expired");
    score(bench);
  });

  it("comes twice, and ten times at once: releases once", async () => {
    const bench = await makeBench();
    const verdict = bench.ask("a");
    const question = await shown(bench);
    const message = signed(yesTo(question, bench.clock), { nowMs: bench.clock.now() });
    const codes = (await Promise.all(Array.from({ length: 10 }, () => bench.call(message)))).map(
      ({ code }) => code,
    );
    expect(codes.filter((code) => code === "taken")).toHaveLength(1);
    expect(await verdict).toBe("consent_approved");
    expect(await bench.call(message)).toMatchObject({ status: 409, code: "replayed" });
    // The same answer under ids of their own: the question is over.
    expect(
      await bench.call(signed(yesTo(question, bench.clock), { nowMs: bench.clock.now() })),
    ).toMatchObject({ status: 410 });
    score(bench, ["a"]);
  });

  it("comes late: does nothing", async () => {
    const bench = await makeBench();
    const verdict = bench.ask("a");
    const question = await shown(bench);
    expect(await runOut(bench, verdict)).toBe("consent_expired");
    const { code } = await bench.call(
      signed(yesTo(question, bench.clock), { nowMs: bench.clock.now() }),
    );
    expect(code).toBe("request_ended");
    score(bench);
  });

  it("comes before the receiver has said that it took the question: counts once", async () => {
    const bench = await makeBench();
    const held: ServerResponse[] = [];
    bench.receiver.respond = (_taken, response) => void held.push(response);
    const verdict = bench.ask("a");
    const question = await shown(bench);
    await bench.call(signed(yesTo(question, bench.clock), { nowMs: bench.clock.now() }));
    expect(await verdict).toBe("consent_approved");
    for (const response of held)
      reply(signed(yesTo(question, bench.clock), { nowMs: bench.clock.now() }), response);
    score(bench, ["a"]);
  });

  it("answers two questions in reverse order, one with a no: each its own", async () => {
    const bench = await makeBench();
    const verdicts = [bench.ask("a"), bench.ask("b")];
    await shown(bench, 2);
    const questionFor = (path: string): Taken => {
      const found = bench.receiver.taken.find(({ body }) =>
        body.includes(`"parameters":{"path":"${path}"}`),
      );
      if (found === undefined) throw new Error(`no question for ${path}`);
      return found;
    };
    await bench.call(signed(yesTo(questionFor("b"), bench.clock), { nowMs: bench.clock.now() }));
    await bench.call(
      signed(yesTo(questionFor("a"), bench.clock, { decision: "denied" }), {
        nowMs: bench.clock.now(),
      }),
    );
    expect(await Promise.all(verdicts)).toEqual(["consent_denied", "consent_approved"]);
    score(bench, ["b"]);
  });

  it("replays the yes of an earlier question for a later one: refused", async () => {
    const bench = await makeBench();
    const first = bench.ask("a");
    const message = signed(yesTo(await shown(bench), bench.clock), { nowMs: bench.clock.now() });
    await bench.call(message);
    await first;
    const second = bench.ask("a");
    const again = await shown(bench, 2);
    expect(await bench.call(message)).toMatchObject({ code: "replayed" });
    expect(await bench.call(signed(message.body, { nowMs: bench.clock.now() }))).toMatchObject({
      code: "request_ended",
    });
    const mixed = yesTo(again, bench.clock, { nonce: JSON.parse(message.body).nonce });
    expect(await bench.call(signed(mixed, { nowMs: bench.clock.now() }))).toMatchObject({
      code: "nonce_mismatch",
    });
    expect(await runOut(bench, second)).toBe("consent_expired");
    score(bench, ["a"]);
  });

  it.each([
    ["an hour back", -3_600_000],
    ["a day ahead", 86_400_000],
  ])(
    "is signed before the gate's clock jumps %s: refused until the clocks agree",
    async (_name, jumpMs) => {
      const bench = await makeBench();
      const verdict = bench.ask("a");
      const question = await shown(bench);
      const message = signed(yesTo(question, bench.clock), { nowMs: bench.clock.now() });
      bench.clock.jump(jumpMs);
      expect(await bench.call(message)).toMatchObject({
        status: 401,
        code: "timestamp_outside_tolerance",
      });
      expect(await runOut(bench, verdict)).toBe("consent_expired");
      score(bench);
    },
  );

  it("is replayed after the gate's clock went back an hour: releases nothing more", async () => {
    const bench = await makeBench();
    const verdict = bench.ask("a");
    const message = signed(yesTo(await shown(bench), bench.clock), { nowMs: bench.clock.now() });
    await bench.call(message);
    await verdict;
    // Long enough for its id to be forgotten, then back into its time.
    await bench.clock.advance(3_600_000);
    bench.clock.jump(-3_600_000);
    const second = bench.ask("a");
    await shown(bench, 2);
    expect(await bench.call(message)).toMatchObject({ code: "request_ended" });
    expect(await runOut(bench, second)).toBe("consent_expired");
    score(bench, ["a"]);
  });

  it("comes to a channel that was closed: does nothing", async () => {
    const bench = await makeBench();
    const deliver = vi.spyOn(bench.channel, "deliver");
    const verdict = bench.ask("a");
    const question = await shown(bench);
    // The channel has heard that the receiver took it.
    await deliver.mock.results[0]?.value;
    await bench.channel.close();
    expect(
      await bench.call(signed(yesTo(question, bench.clock), { nowMs: bench.clock.now() })),
    ).toMatchObject({ status: 503 });
    expect(await runOut(bench, verdict)).toBe("consent_expired");
    score(bench);
  });
});
