/**
 * `acp mcp` with the channels of config.yml: a Telegram chat and a webhook's receiver, alone,
 * together and one after the other; and what a yes may cover beyond its call. Everything is real
 * but Telegram's server and the people.
 */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { type IncomingMessage, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { attachApprovers } from "@acp/channel-terminal";
import { signWebhook, verifyWebhook } from "@acp/channel-webhook";
import { decodeRequest, makeResponse } from "@acp/core";
import type { AnswerParts, ConsentRequest } from "@acp/core";
import { type BotApiDouble, createBotApiDouble } from "@acp/testing";
import { describe, expect, it, vi } from "vitest";
import { acp, scratch } from "./harness.js";
import type { Scratch } from "./harness.js";
import { answering, startGated } from "./mcp-client.js";

const ADA = { id: 4711, name: "Ada" };
const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const POLICY = `version: "1"
default_action: ask
rules:
  - id: writes
    match: { tool: write_file }
    action: ask
    offers: [{ covers: tool, ttl: 600, uses: 5 }]
`;

interface World extends Scratch {
  readonly home: string;
  readonly folder: string;
}

async function world(config: string): Promise<World> {
  const at = await scratch();
  const [home, folder] = [join(at.path, "h"), join(at.path, "files")];
  await mkdir(folder);
  await mkdir(home, { mode: 0o700 });
  await writeFile(join(home, "policy.yml"), POLICY, { mode: 0o600 });
  await writeFile(join(home, "config.yml"), config, { mode: 0o600 });
  return { ...at, home, folder };
}

const telegramOf = ({ token, apiRoot }: BotApiDouble): string =>
  `telegram: { bot_token: "${token}", chat_id: "${ADA.id}", api_root: "${apiRoot}" }\n`;

/** Taps a button of the newest question in the chat as soon as it is there. */
async function tapNext(double: BotApiDouble, label: string): Promise<void> {
  const message = await vi.waitFor(
    () => {
      const newest = double
        .messages(ADA.id)
        .find(({ buttons }) => buttons.some((button) => button.label.startsWith(label)));
      if (newest === undefined) throw new Error(`no message with a button ${label}`);
      return newest;
    },
    { timeout: 120_000, interval: 20 },
  );
  await double.tap({ message, from: ADA, button: { label } }).answer;
}

/** A receiver of signed questions. */
interface Receiver extends AsyncDisposable {
  readonly url: string;
  readonly questions: readonly ConsentRequest[];
}

async function bodyOf(incoming: IncomingMessage): Promise<string> {
  let body = "";
  for await (const chunk of incoming.setEncoding("utf8")) body += String(chunk);
  return body;
}

/** Answers each question in its reply as told; without an answer it only takes them. */
async function receiver(
  answerTo: (question: ConsentRequest) => Omit<AnswerParts, "nowMs" | "channel"> | undefined,
): Promise<Receiver> {
  const questions: ConsentRequest[] = [];
  const server = createServer((incoming, outgoing) => {
    void bodyOf(incoming).then((body) => {
      if (
        !verifyWebhook({ headers: incoming.headers, body }, { secret: SECRET, nowMs: Date.now() })
          .ok
      )
        return outgoing.writeHead(401).end();
      const event = JSON.parse(body);
      if (event.type !== "consent_request") return outgoing.writeHead(204).end();
      const { links: _links, ...wire } = event;
      const question = decodeRequest(wire);
      questions.push(question);
      const parts = answerTo(question);
      if (parts === undefined) return outgoing.writeHead(202).end();
      const answer = JSON.stringify(
        makeResponse(question, { ...parts, nowMs: Date.now(), channel: "webhook" }),
      );
      const signed = signWebhook(
        { id: `msg_${question.id}`, timestampMs: Date.now(), body: answer },
        SECRET,
      );
      return outgoing.writeHead(200, { ...signed }).end(answer);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo; // listening on a port, not on a pipe
  return {
    url: `http://127.0.0.1:${port}/`,
    questions,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const webhookOf = ({ url }: Receiver): string =>
  `webhook: { url: "${url}", secret: "${SECRET}" }\n`;

describe("acp mcp", () => {
  it.each([
    ["served by the resident", true],
    ["alone", false],
  ])("asks in a Telegram chat, and does what is tapped there: %s", async (_name, isResident) => {
    await using double = await createBotApiDouble();
    await using at = await world(`version: "1"\nchannel: telegram\n${telegramOf(double)}`);
    await using gated = await startGated({ ...at, isResident });
    const [path, other] = [join(at.folder, "a.txt"), join(at.folder, "b.txt")];
    const [answer] = await Promise.all([
      gated.call("write_file", { path, content: "hello" }),
      tapNext(double, "Approve"),
    ]);
    expect(answer.isError).toBe(false);
    expect(await readFile(path, "utf8")).toBe("hello");
    const [denied] = await Promise.all([
      gated.call("write_file", { path: other, content: "no" }),
      tapNext(double, "Deny"),
    ]);
    expect(denied).toMatchObject({ isError: true, code: "consent_denied" });
    await expect(readFile(other)).rejects.toThrow("ENOENT");
  });

  it("asks a webhook's receiver, and does what its signed reply says", async () => {
    await using hook = await receiver(({ action }) =>
      JSON.stringify(action.parameters).includes("b.txt")
        ? { decision: "denied", reason: "not this one" }
        : { decision: "approved" },
    );
    await using at = await world(`version: "1"\nchannel: webhook\n${webhookOf(hook)}`);
    await using gated = await startGated(at);
    expect(
      await gated.call("write_file", { path: join(at.folder, "a.txt"), content: "hello" }),
    ).toMatchObject({ isError: false });
    expect(
      await gated.call("write_file", { path: join(at.folder, "b.txt"), content: "no" }),
    ).toMatchObject({ code: "consent_denied" });
    expect(hook.questions).toHaveLength(2);
  });

  it("asks on two channels at once; the first answer counts", async () => {
    await using hook = await receiver(() => undefined);
    await using at = await world(`version: "1"\nchannel: [prompt, webhook]\n${webhookOf(hook)}`);
    await using gated = await startGated(at);
    const answer = await answering(at.home, { decision: "approved" }, () =>
      gated.call("write_file", { path: join(at.folder, "a.txt"), content: "hello" }),
    );
    expect(answer.isError).toBe(false);
    await vi.waitFor(() => expect(hook.questions).toHaveLength(1), { timeout: 120_000 });
  });

  it("goes on to the next channel after its time", async () => {
    await using double = await createBotApiDouble();
    await using hook = await receiver(() => undefined);
    const stages =
      "escalation:\n  - { channel: webhook }\n  - { channel: telegram, after_seconds: 1 }\n";
    await using at = await world(`version: "1"\n${stages}${webhookOf(hook)}${telegramOf(double)}`);
    await using gated = await startGated(at);
    const call = gated.call("write_file", { path: join(at.folder, "a.txt"), content: "hello" });
    await vi.waitFor(() => expect(hook.questions).toHaveLength(1), { timeout: 120_000 });
    expect(double.messages(ADA.id)).toEqual([]);
    await tapNext(double, "Approve");
    expect(await call).toMatchObject({ isError: false });
  });

  it("shows what an earlier gate left open again, under the same id", async () => {
    await using hook = await receiver(() => undefined);
    await using at = await world(`version: "1"\nchannel: webhook\n${webhookOf(hook)}`);
    const first = await startGated(at);
    const call = first
      .call("write_file", { path: join(at.folder, "a.txt"), content: "hello" })
      .catch(() => "lost");
    await vi.waitFor(() => expect(hook.questions).toHaveLength(1), { timeout: 120_000 });
    process.kill(first.pid, "SIGKILL");
    expect(await call).toBe("lost");
    await using second = await startGated(at);
    await second.said("1 questions that an earlier gate left open are asked again");
    await vi.waitFor(() => expect(hook.questions).toHaveLength(2), { timeout: 120_000 });
    expect(hook.questions[1]?.id).toBe(hook.questions[0]?.id);
  });

  it("asks nobody again about what its client left open when it went away", async () => {
    await using hook = await receiver(() => undefined);
    await using at = await world(`version: "1"\nchannel: webhook\n${webhookOf(hook)}`);
    const first = await startGated(at);
    const call = first
      .call("write_file", { path: join(at.folder, "a.txt"), content: "hello" })
      .catch(() => "lost");
    await vi.waitFor(() => expect(hook.questions).toHaveLength(1), { timeout: 120_000 });
    await first.client.close();
    await call;
    await using second = await startGated(at);
    expect(await second.client.listTools()).toHaveProperty("tools");
    expect(second.stderr()).not.toContain("asked again");
    expect(hook.questions).toHaveLength(1);
  });

  it("asks no more where a yes covered more, until that is revoked", async () => {
    await using hook = await receiver(({ offers }) => ({
      decision: "approved",
      grantId: offers[0]?.id ?? "",
    }));
    await using at = await world(`version: "1"\nchannel: webhook\n${webhookOf(hook)}`);
    await using gated = await startGated(at);
    const write = (name: string): Promise<unknown> =>
      gated.call("write_file", { path: join(at.folder, name), content: "x" });
    for (const name of ["a", "b", "c"]) expect(await write(name)).toMatchObject({ isError: false });
    expect(hook.questions).toHaveLength(1);
    const listed = JSON.parse((await acp(["grants", "--json"], { home: at.home })).stdout);
    expect(listed).toMatchObject({
      grants: [
        { agentId: "mcp-client", usesLeft: 3, covers: "every call of write_file on default" },
      ],
    });
    const shown = await acp(["grants"], { home: at.home });
    expect(shown.stdout).toMatch(
      /^gr_\S+ {2}mcp-client may: every call of write_file on default {2}by webhook {2}.* 3 uses left, from cr_/,
    );
    const id: string = listed.grants[0].id;
    const copy = await readFile(join(at.home, "grants.json"));
    expect(await acp(["grants", "revoke", id], { home: at.home })).toMatchObject({
      code: 0,
      stdout: `revoked ${id}\n`,
    });
    expect(await acp(["grants"], { home: at.home })).toMatchObject({
      code: 0,
      stdout: "No earlier consent is in force\n",
    });
    expect((await acp(["grants", "revoke", id], { home: at.home })).code).not.toBe(0);
    await writeFile(join(at.home, "grants.json"), copy);
    expect(await acp(["grants"], { home: at.home })).toMatchObject({
      code: 0,
      stdout: "No earlier consent is in force\n",
    });
    expect(await write("d")).toMatchObject({ isError: false });
    expect(hook.questions).toHaveLength(2);
    expect(
      (await acp(["audit", "show", "--limit", "0", "--json"], { home: at.home })).stdout,
    ).toContain("grant_revoked");
  });

  it("takes the word for what is critical, and what else a yes covers, from acp approve --once", async () => {
    await using at = await world('version: "1"\n');
    await writeFile(
      join(at.home, "policy.yml"),
      `version: "1"
default_action: deny
rules:
  - { match: { tool: write_file, args: { path: "*critical*" } }, action: ask, level: critical }
  - { match: { tool: write_file }, action: ask, offers: [{ covers: tool, ttl: 600 }] }
`,
    );
    await using gated = await startGated(at);
    await using silent = await attachApprovers({
      directory: join(at.home, "run"),
      signal: new AbortController().signal,
    });
    expect(silent.gates()).toBe(1);
    const asked = async (
      name: string,
    ): Promise<{ readonly call: Promise<unknown>; readonly question: ConsentRequest }> => {
      const call = gated.call("write_file", { path: join(at.folder, name), content: "x" });
      const found = await vi.waitFor(
        () => {
          const [open] = silent.pending();
          if (open === undefined) throw new Error("nothing is asked");
          return open;
        },
        { timeout: 120_000 },
      );
      return { call, question: found.request };
    };
    const once = (id: string, ...rest: readonly string[]): ReturnType<typeof acp> =>
      acp(["approve", "--once", id, "--approve", ...rest], { home: at.home });

    const critical = await asked("critical");
    expect((await once(critical.question.id)).stdout).toContain("confirmation_required");
    expect(await once(critical.question.id, "--word", "approve")).toMatchObject({ code: 0 });
    expect(await critical.call).toMatchObject({ isError: false });

    const offering = await asked("plain");
    expect(
      await once(offering.question.id, "--offer", offering.question.offers[0]?.id ?? ""),
    ).toMatchObject({ code: 0 });
    expect(await offering.call).toMatchObject({ isError: false });
    expect(
      await gated.call("write_file", { path: join(at.folder, "next"), content: "x" }),
    ).toMatchObject({ isError: false });
  });

  it("denies what an agent asks beyond its limit, and asks nobody", async () => {
    await using hook = await receiver(() => ({ decision: "approved" }));
    await using at = await world(
      `version: "1"\nchannel: webhook\ndefaults: { prompt_limit: 1/hour }\n${webhookOf(hook)}`,
    );
    await using gated = await startGated(at);
    const write = (name: string): Promise<unknown> =>
      gated.call("write_file", { path: join(at.folder, name), content: "x" });
    expect(await write("a")).toMatchObject({ isError: false });
    expect(await write("b")).toMatchObject({ isError: true, code: "too_many_questions" });
    expect(hook.questions).toHaveLength(1);
  });

  it.each([
    [
      "a token that is none",
      'channel: telegram\ntelegram: { bot_token: "hunter2", chat_id: "1" }\n',
      "options_invalid",
    ],
    [
      "a group without approvers",
      'channel: telegram\ntelegram: { bot_token: "1:abcdefgh", chat_id: "-5" }\n',
      "options_invalid",
    ],
    [
      "a webhook over plain http",
      `channel: webhook\nwebhook: { url: "http://example.com/", secret: "${SECRET}" }\n`,
      "options_invalid",
    ],
  ])("does not start with %s, names the file, and shows no secret", async (_, config, code) => {
    await using at = await world(`version: "1"\n${config}`);
    const { code: exit, stderr } = await acp(["mcp", "--", "true"], { home: at.home });
    expect(exit).not.toBe(0);
    expect(stderr).toContain(join(at.home, "config.yml"));
    expect(stderr).toContain(`[${code}]`);
    expect(stderr).not.toContain("hunter2");
  });
});
