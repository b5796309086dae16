/**
 * A server that was given a secret says it in every message that it may send: nothing of it reaches
 * the client, the log of the proxy or the audit log.
 */
import { createMasker, createVault, Secret } from "@acp/core/vault";
import { describe, expect, it } from "vitest";
import { STDERR_QUIET_MS } from "../src/limits.js";
import { server } from "./support/many.js";
import { SERVERS_MAY_ASK, type Proxied, proxied } from "./support/proxied.js";
import type { Message } from "./support/line-client.js";

const VALUES = {
  TOKEN: "hunter2-hunter2",
  PIN: "1234500000",
  KEY: "-----BEGIN KEY-----\nMIIEvQIBADANBgkq\nhkiG9w0BAQEFAASC\n-----END KEY-----\n",
  OBJECT: '{"a":1,"b":2}',
  [`LONG_${"X".repeat(59)}`]: "wide-wide",
};
const NAMES = Object.keys(VALUES);
const LONG = NAMES.at(-1) ?? "";
const SECRETS = Object.freeze(
  Object.entries(VALUES).map(([name, value]) => new Secret({ name, value, servers: ["*"] })),
);
const POLICY = {
  version: "1",
  default: "allow",
  rules: [{ match: { tool: "leak" }, action: "allow", secrets: NAMES }, ...SERVERS_MAY_ASK],
};
/** The secrets as the server's tool is given them; the placeholders are filled on the way. */
const GIVEN = Object.fromEntries(NAMES.map((name) => [name, `{{secret:${name}}}`]));

/** A number in another spelling than the vault has it; nobody else writes it in full. */
const SPELT = { SPELT: "1.2345e9" };

/** What a server can say without being asked, or in answer to a call; each with a value in it. */
const PROGRESS =
  '{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"t","progress":1,"message":"at $TOKEN"}}';
const LOGGED =
  '{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","logger":"$TOKEN","data":{"pin":$PIN,"$TOKEN":[$SPELT]}}}';
const SAMPLING =
  '{"jsonrpc":"2.0","id":71,"method":"sampling/createMessage","params":{"messages":[{"role":"user","content":{"type":"text","text":"use $TOKEN"}}],"maxTokens":9}}';
const ELICITATION =
  '{"jsonrpc":"2.0","id":72,"method":"elicitation/create","params":{"message":"is it $TOKEN?","requestedSchema":{"type":"object","properties":{"$TOKEN":{"type":"string"}}}}}';
const UPDATED =
  '{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"x://h/?k=$TOKEN"}}';
const VENDOR = '{"jsonrpc":"2.0","method":"vendor/$TOKEN","params":["$TOKEN"]}';
const NO_MESSAGE = "connected with $TOKEN";
const RESULT =
  '{"jsonrpc":"2.0","id":$ID,"result":{"content":[{"type":"text","text":"pin $PIN"}],"structuredContent":{"pin":$PIN}}}';
const FAILURE =
  '{"jsonrpc":"2.0","id":$ID,"error":{"code":-32000,"message":"$TOKEN is refused","data":{"$TOKEN":$PIN}}}';

function withVault(): Proxied {
  return proxied({
    policy: POLICY,
    vault: createVault(SECRETS),
    upstreams: [server("fs", { secrets: SPELT })],
  });
}

/** Every place that something of a value could have come to. */
function shown({ client, logs, audit }: Proxied): string {
  return [...client.lines, ...logs, JSON.stringify(audit.events())].join("\n");
}

function expectNoValue(text: string): void {
  const parts = [
    "hunter2-hunter2",
    "1234500000",
    "MIIEvQIBADANBgkq",
    "hkiG9w0BAQEFAASC",
    "1.2345e9",
    '{"a":1,"b":2}',
    "wide-wide",
  ];
  for (const part of parts) expect(text).not.toContain(part);
}

async function give(p: Proxied, more: object = {}): Promise<void> {
  await p.client.handshake();
  await p.client.call(
    "give",
    "leak",
    { secrets: GIVEN, lines: [RESULT], ...more },
    { _meta: { progressToken: "t" } },
  );
}

/** Waits for a line in the log; whatever stderr holds back comes out after a silence. */
async function logged({ logs, clock }: Proxied, line: string): Promise<void> {
  while (!logs.includes(line)) {
    await new Promise((resolve) => setTimeout(resolve, 5));
    await clock.advance(STDERR_QUIET_MS);
  }
}

describe("a server that was given secrets", () => {
  it("says none of them in notifications and requests during the call", async () => {
    const p = withVault();
    await give(p, {
      lines: [PROGRESS, LOGGED, SAMPLING, ELICITATION, UPDATED, VENDOR, NO_MESSAGE, RESULT],
    });
    for (const asked of [71, 72]) await p.client.find(({ id }) => id === asked);
    expectNoValue(shown(p));
    const last = (count: number): readonly string[] => p.client.lines.slice(-count);
    const masked = (line: string): string =>
      line
        .replaceAll("$TOKEN", "[secret TOKEN]")
        .replaceAll("$PIN", '"[secret PIN]"')
        .replaceAll("$SPELT", '"[secret PIN]"');
    // What the server asks waits for the gate.
    expect(last(8).toSorted()).toEqual(
      [
        ...[PROGRESS, LOGGED, SAMPLING, ELICITATION, UPDATED, VENDOR, NO_MESSAGE].map(masked),
        '{"jsonrpc":"2.0","id":"give","result":{"content":[{"type":"text","text":"pin [secret PIN]"}],"structuredContent":{"pin":"[secret PIN]"}}}',
      ].toSorted(),
    );
    for (const line of last(8)) if (!line.startsWith("connected")) JSON.parse(line);
    await p.proxy.close();
  });

  it("says none of them in an error reply", async () => {
    const p = withVault();
    await give(p, { lines: [FAILURE] });
    expect(p.client.lines.at(-1)).toBe(
      '{"jsonrpc":"2.0","id":"give","error":{"code":-32000,"message":"[secret TOKEN] is refused","data":{"[secret TOKEN]":"[secret PIN]"}}}',
    );
    expectNoValue(shown(p));
    await p.proxy.close();
  });

  it("says none of them after the call, in answers to other requests too; a late answer goes nowhere", async () => {
    const p = withVault();
    await give(p);
    for (const answer of [RESULT, FAILURE])
      await p.client.request(`later-${answer.length}`, "vendor/leak", { lines: [LOGGED, answer] });
    p.client.send({ id: "taken back", method: "ping" });
    p.client.send({ method: "notifications/cancelled", params: { requestId: "taken back" } });
    await p.client.request("late", "vendor/leak", {
      lines: ['{"jsonrpc":"2.0","id":"$TOKEN","result":{"n":$PIN}}', RESULT],
    });
    expect(p.client.lines.join("")).not.toContain('"n":');
    expectNoValue(shown(p));
    await p.proxy.close();
  });

  it("says none of them on its stderr, also where one has several lines", async () => {
    const p = withVault();
    await give(p, { stderr: ["token $TOKEN\nkey:\n$KEY", "pin=$PIN\nend\n"] });
    await logged(p, "[fs] end");
    expectNoValue(shown(p));
    expect(p.logs).toContain("[fs] [secret KEY]");
    expect(p.logs).toContain("[fs] pin=[secret PIN]");
    await p.proxy.close();
  });

  it("is heard no more where a value stands across several of a message's values, and who waits is told", async () => {
    const p = withVault();
    await give(p);
    const error = {
      code: -32603,
      message: 'Cannot pass on what server "fs" said: it holds a secret across several values',
      data: { code: "secret_in_answer", server: "fs" },
    };
    const answer = '{"jsonrpc":"2.0","id":$ID,"result":{"structuredContent":$OBJECT}}';
    expect((await p.client.call("call", "leak", { lines: [answer] })).error).toEqual(error);
    expect((await p.client.request("other", "vendor/leak", { lines: [answer] })).error).toEqual(
      error,
    );
    const asked =
      '{"jsonrpc":"2.0","id":"asked","method":"sampling/createMessage","params":$OBJECT}';
    const told = '{"jsonrpc":"2.0","method":"notifications/message","params":$OBJECT}';
    await p.client.request("unasked", "vendor/leak", { lines: [asked, told, RESULT] });
    expect(
      p.client.lines
        .map((line) => (JSON.parse(line) as Message).method)
        .filter((method) => method !== undefined),
    ).toEqual([]);
    const { result } = await p.client.request("received", "ping", { received: true });
    expect(
      (result?.received as readonly string[] | undefined)?.map(
        (line) => JSON.parse(line) as object,
      ),
    ).toContainEqual({
      jsonrpc: "2.0",
      id: "asked",
      error,
    });
    expect(
      p.logs.filter((line) => line.includes("holds a secret across several values")),
    ).toHaveLength(4);
    expectNoValue(shown(p));
    await p.proxy.close();
  });

  it("gets an answer that became too long by its labels replaced by an error", async () => {
    const p = withVault();
    await give(p);
    const text = Array.from({ length: 2_000 }, () => `$${LONG}`).join(" ");
    const answer = await p.client.request("long", "vendor/leak", {
      lines: [`{"jsonrpc":"2.0","id":$ID,"result":{"text":"${text} $PADDING"}}`],
    });
    expect(answer.error).toMatchObject({ code: -32603, data: { code: "answer_too_large" } });
    expectNoValue(shown(p));
    await p.proxy.close();
  });

  it("has its own request answered under the id that it gave", async () => {
    const p = withVault();
    await give(p, { lines: [SAMPLING, RESULT] });
    p.client.send({
      id: 71,
      result: { role: "assistant", content: { type: "text", text: "no" }, model: "m" },
    });
    while (
      !JSON.stringify(
        (await p.client.request(`r${p.client.lines.length}`, "ping", { received: true })).result,
      ).includes("assistant")
    );
    await p.proxy.close();
  });
});

describe("servers beside one that was given secrets", () => {
  it("say none of them either", async () => {
    // What one server stored, another can read.
    const upstreams = [
      server("one", { secrets: SPELT }),
      server("two", { secrets: { ...VALUES, ...SPELT } }),
    ];
    const p = proxied({ policy: POLICY, vault: createVault(SECRETS), upstreams });
    await p.client.handshake();
    await p.client.call(
      1,
      "one__leak",
      { secrets: GIVEN, lines: [PROGRESS, LOGGED, SAMPLING, RESULT] },
      { _meta: { progressToken: "t" } },
    );
    const answer = await p.client.call(2, "two__leak", {
      lines: [LOGGED, ELICITATION, FAILURE],
      stderr: ["$TOKEN\n"],
    });
    expect(answer.error).toMatchObject({
      message: "[secret TOKEN] is refused",
      data: { "[secret TOKEN]": "[secret PIN]" },
    });
    await logged(p, "[two] [secret TOKEN]");
    expect(p.client.lines.filter((line) => line.includes("notifications/message"))).toHaveLength(2);
    expect(p.client.lines.filter((line) => line.includes("sampling/createMessage"))).toHaveLength(
      1,
    );
    expect(p.client.lines.filter((line) => line.includes("elicitation/create"))).toHaveLength(1);
    expectNoValue(shown(p));
    await p.proxy.close();
  });
});

describe("the option masker", () => {
  it("masks what a server says before any call is released", async () => {
    const p = proxied({ policy: POLICY, masker: () => createMasker(SECRETS) });
    await p.client.handshake();
    const said = '{"jsonrpc":"2.0","id":$ID,"result":{"token":"hunter2-hunter2","pin":12345e5}}';
    expect(
      (await p.client.request(1, "vendor/leak", { lines: [said], stderr: ["hunter2-hunter2\n"] }))
        .result,
    ).toEqual({
      token: "[secret TOKEN]",
      pin: "[secret PIN]",
    });
    await logged(p, "[fs] [secret TOKEN]");
    await p.proxy.close();
  });
});
