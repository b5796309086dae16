/**
 * `acp inbox` beside a real gate, spoken to as its page speaks to it. Browsers:
 * packages/channel-web/test.
 */
import { execFile } from "node:child_process";
import { mkdir, readFile, stat, writeFile } from "node:fs/promises";
import { request as httpRequest } from "node:http";
import { join } from "node:path";
import { promisify } from "node:util";
import { createSoftwarePasskey, type SoftwarePasskey } from "@acp/testing";
import { describe, expect, it } from "vitest";
import { acp, BIN, type Running, scratch, type Scratch, startAcp } from "./harness.js";
import { localFetch } from "./local-fetch.js";
import { startGated } from "./mcp-client.js";
import { openPane, words } from "./pane.js";

const POLICY = `version: "1"
default_action: deny
rules:
  - match: { tool: "write_file" }
    action: ask
    approval: passkey
  - match: { tool: "create_directory" }
    action: ask
`;

type Json = ReturnType<typeof JSON.parse>;

/** The page's side of the inbox. */
interface Page {
  readonly origin: string;
  post(path: string, body: object): Promise<{ readonly status: number; readonly body: Json }>;
  get(path: string): Promise<Json>;
  /** The first open question that the stream tells. */
  question(): Promise<Json>;
}

interface World extends Scratch {
  readonly home: string;
  readonly folder: string;
}

async function world(): Promise<World> {
  const at = await scratch();
  const [home, folder] = [join(at.path, "h"), join(at.path, "files")];
  await mkdir(folder);
  expect(await acp(["init"], { home })).toMatchObject({ code: 0 });
  await writeFile(join(home, "policy.yml"), POLICY, { mode: 0o600 });
  return { ...at, home, folder };
}

interface Told {
  readonly url: string;
  readonly code: string;
}

async function openInbox(home: string): Promise<Running & Told> {
  const running = startAcp(["inbox", "--port", "0", "--json"], { home });
  await running.seen("stdout", /"code"/);
  const told = JSON.parse(running.stdout().split("\n")[0] ?? "") as Told;
  return Object.assign(running, told);
}

async function signIn({ url, code }: Told): Promise<Page> {
  const plain = { origin: url, "content-type": "application/json", "x-acp-inbox": "1" };
  const signed = await localFetch(`${url}/api/session`, {
    method: "POST",
    headers: plain,
    body: JSON.stringify({ code }),
  });
  expect(signed.status).toBe(200);
  const { key }: Json = await signed.json();
  const headers = { ...plain, "x-acp-inbox": String(key) };
  const cookie = signed.headers.get("set-cookie")?.split(";")[0] ?? "";
  const get = async (path: string): Promise<Json> =>
    (await localFetch(url + path, { headers: { cookie, "x-acp-inbox": String(key) } })).json();
  return {
    origin: url,
    get,
    async post(path, body) {
      const answer = await localFetch(url + path, {
        method: "POST",
        headers: { ...headers, cookie },
        body: JSON.stringify(body),
      });
      const text = await answer.text();
      return { status: answer.status, body: text === "" ? undefined : JSON.parse(text) };
    },
    async question() {
      const stream = await localFetch(`${url}/api/events`, {
        headers: { cookie, "x-acp-inbox": String(key) },
      });
      let text = "";
      for await (const chunk of stream.body ?? []) {
        text += Buffer.from(chunk).toString("utf8");
        for (const block of text.split("\n\n").slice(0, -1)) {
          const [, event = "", data = "null"] =
            /event: (\w+)\n(?:.*\n)*?data: (.*)$/m.exec(block) ?? [];
          const value: Json = JSON.parse(data);
          const found: Json =
            event === "hello" ? value.open[0] : event === "open" ? value : undefined;
          // Whoever leaves the loop lets go of the stream.
          if (found !== undefined) return found;
        }
      }
      throw new Error("the stream ended");
    },
  };
}

/**
 * Calls until the question stands on the page: a call before the inbox has joined a gate, which
 * takes it up to a second, is denied.
 */
async function asked<T>(
  page: Page,
  call: () => Promise<T>,
): Promise<{ readonly question: Json; readonly ended: Promise<T> }> {
  const seen = page.question();
  for (;;) {
    const ended = call();
    const question: Json = await Promise.race([ended.then(() => undefined), seen]);
    if (question !== undefined) return { question, ended };
  }
}

async function registered(page: Page): Promise<SoftwarePasskey> {
  const key = createSoftwarePasskey(page.origin);
  const { body: options } = await page.post("/api/passkeys/options", {});
  expect(
    await page.post("/api/passkeys", { registration: key.register(options), label: "phone" }),
  ).toMatchObject({ status: 201 });
  return key;
}

describe("acp inbox", () => {
  it("answers gates that run and gates that start later, with a passkey where the rule wants one; the proof is the person's", async () => {
    await using at = await world();
    await using inbox = await openInbox(at.home);
    const page = await signIn(inbox);
    expect(await page.get("/api/session")).toMatchObject({
      approver: "local",
      passkeys: 0,
      passkey_from: "high",
    });
    const key = await registered(page);
    expect((await acp(["audit", "show"], at)).stdout).toContain(
      `The passkey ${key.id} of local was added`,
    );
    const file = join(at.folder, "b.txt");
    {
      await using gated = await startGated(at);
      const { question: plain, ended: made } = await asked(page, () =>
        gated.call("create_directory", { path: join(at.folder, "new") }),
      );
      const prepared = await page.post("/api/answers/prepare", {
        request_id: plain.request.id,
        decision: "approved",
      });
      expect(prepared).toMatchObject({ status: 200, body: { passkey: null } });
      expect(await page.post("/api/answers", { ticket: prepared.body.ticket })).toMatchObject({
        body: { status: "final" },
      });
      expect(await made).toMatchObject({ isError: false });

      const written = gated.call("write_file", { path: file, content: "as signed" });
      const signed = await page.question();
      expect(signed).toMatchObject({ needs_passkey: true, channel: "terminal", may_answer: true });
      const without = await page.post("/api/answers/prepare", {
        request_id: signed.request.id,
        decision: "approved",
      });
      expect(await page.post("/api/answers", { ticket: without.body.ticket })).toMatchObject({
        status: 403,
        body: { code: "passkey_required" },
      });
      const { body } = await page.post("/api/answers/prepare", {
        request_id: signed.request.id,
        decision: "approved",
      });
      const answered = await page.post("/api/answers", {
        ticket: body.ticket,
        assertion: key.assert(body.passkey),
      });
      expect(answered).toMatchObject({
        status: 200,
        body: { status: "final", outcome: "approved" },
      });
      expect(await written).toMatchObject({ isError: false });
    }
    expect(await readFile(file, "utf8")).toBe("as signed");
    const { entries } = await page.get("/api/history?limit=5");
    expect(entries[0]).toMatchObject({
      status: "approved",
      approvers: ["local"],
      responses: [{ proof: { algorithm: "WebAuthn" } }],
    });
    const record = join(at.path, "record.json");
    await writeFile(record, (await acp(["proof", "export", entries[0].request.id], at)).stdout);
    expect(await acp(["proof", "verify", record], at)).toMatchObject({ code: 0 });
    inbox.child.kill("SIGTERM");
    expect(await inbox.ended).toMatchObject({ code: 0 });
  });

  it("lets nobody in with a wrong code, a used one, or from another page", async () => {
    await using at = await world();
    await using inbox = await openInbox(at.home);
    const post = (headers: Readonly<Record<string, string>>, code: string): Promise<number> =>
      localFetch(`${inbox.url}/api/session`, {
        method: "POST",
        headers: { "content-type": "application/json", "x-acp-inbox": "1", ...headers },
        body: JSON.stringify({ code }),
      }).then(({ status }) => status);
    expect(await post({ origin: "http://evil.example" }, inbox.code)).toBe(403);
    expect(await post({}, inbox.code)).toBe(403);
    expect(await post({ origin: inbox.url }, "AAAA-AAAA-AAAA")).toBe(401);
    expect(await post({ origin: inbox.url }, inbox.code)).toBe(200);
    expect(await post({ origin: inbox.url }, inbox.code)).toBe(401);
    expect((await localFetch(`${inbox.url}/api/history`)).status).toBe(401);
  });

  it.skipIf(process.getuid?.() !== 0)(
    "takes no connection of another user, skipped: it takes root to be another",
    async () => {
      await using at = await world();
      await using inbox = await openInbox(at.home);
      const curl = [
        "curl",
        "--silent",
        "--show-error",
        "--max-time",
        "20",
        "--resolve",
        `*:${new URL(inbox.url).port}:127.0.0.1`,
        inbox.url,
      ];
      const other = ["--reuid", "61042", "--regid", "61042", "--clear-groups", "--", ...curl];
      expect((await promisify(execFile)("curl", curl.slice(1))).stdout).toContain(
        "<!doctype html>",
      );
      await expect(promisify(execFile)("setpriv", other)).rejects.toMatchObject({ stdout: "" });
    },
  );

  it("listens on a Unix socket of the user's own for a reverse proxy, and knows no other name than its own", async () => {
    await using at = await world();
    const path = join(at.path, "i.sock");
    await using running = startAcp(
      ["inbox", "--socket", path, "--origin", "https://inbox.example.com", "--json"],
      at,
    );
    await running.seen("stdout", /"code"/);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    const status = (host: string): Promise<number | undefined> =>
      new Promise((resolve, reject) => {
        const sent = httpRequest({ socketPath: path, path: "/", headers: { host } }, (answer) => {
          answer.resume();
          resolve(answer.statusCode);
        });
        sent.on("error", reject).end();
      });
    expect([await status("inbox.example.com"), await status("localhost")]).toEqual([200, 421]);
  });

  it("takes the place of one that was killed, and of nothing else", async () => {
    await using at = await world();
    const path = join(at.path, "i.sock");
    const args = ["inbox", "--socket", path, "--origin", "https://inbox.example.com", "--json"];
    {
      await using killed = startAcp(args, at);
      await killed.seen("stdout", /"code"/);
      expect(await acp(args, at)).toMatchObject({
        code: 2,
        stderr: expect.stringContaining("Cannot listen") as unknown,
      });
    }
    expect((await stat(path)).isSocket()).toBe(true);
    {
      await using next = startAcp(args, at);
      await next.seen("stdout", /"code"/);
      next.child.kill("SIGTERM");
      expect(await next.ended).toMatchObject({ code: 0 });
    }
    await writeFile(path, "a file");
    expect(await acp(args, at)).toMatchObject({ code: 2 });
    expect(await readFile(path, "utf8")).toBe("a file");
  });

  it("makes another code with the Enter key, and ends with Ctrl-C", async () => {
    await using at = await world();
    await using pane = await openPane(
      words(process.execPath, BIN, "inbox", "--home", at.home, "--port", "0"),
      at.folder,
    );
    const [, url = "", first = ""] =
      /sign in at (\S+?)\/#code=([\w-]{14})/.exec(await pane.until(/Ctrl-C ends the inbox/)) ?? [];
    await pane.press("Enter");
    const codes = [
      ...(await pane.until(/#code=[^]*#code=[\w-]{14}/)).matchAll(/#code=([\w-]{14})/g),
    ].map(([, code]) => code);
    expect(new Set(codes).size).toBe(2);
    for (const code of [first, codes[1]]) {
      const headers = { origin: url, "content-type": "application/json", "x-acp-inbox": "1" };
      expect(
        (
          await localFetch(`${url}/api/session`, {
            method: "POST",
            headers,
            body: JSON.stringify({ code }),
          })
        ).status,
      ).toBe(200);
    }
    await pane.press("C-c");
    await pane.until(/exit 0/);
  });

  it.each([
    ["an IP address", ["--origin", "https://192.0.2.1"], "IP address"],
    ["a level that is none", ["--passkey-from", "hihg"], "--passkey-from"],
    ["a socket without a name", ["--socket", "/tmp/x.sock"], "--origin"],
    ["a port that is none", ["--port", "http"], "--port"],
  ])("does not start with %s", async (_, args, text) => {
    await using at = await world();
    expect(await acp(["inbox", ...args], at)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(text) as unknown,
    });
  });
});
