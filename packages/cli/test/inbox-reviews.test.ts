/**
 * Reviews in `acp inbox`, spoken to as its page speaks to it, beside a real `acp run --review`.
 * Browsers: packages/channel-web/test/browser-reviews.test.ts.
 */
import { chown, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createSoftwarePasskey } from "@acp/testing";
import { describe, expect, it } from "vitest";
import { acp, startAcp } from "./harness.js";
import { localFetch } from "./local-fetch.js";
import { needSandbox, runWorld } from "./run-world.js";
import type { RunWorld } from "./run-world.js";

const NAMESPACE = needSandbox("namespace");
const REVIEW = { args: ["--review"] } as const;

type Json = ReturnType<typeof JSON.parse>;

interface Page extends AsyncDisposable {
  readonly origin: string;
  readonly get: (path: string) => Promise<Json>;
  readonly post: (
    path: string,
    body: object,
  ) => Promise<{ readonly status: number; readonly body: Json }>;
}

/** A page of an inbox, signed in. */
async function openPage(home: string, ...options: readonly string[]): Promise<Page> {
  const running = startAcp(["inbox", "--port", "0", "--json", ...options], { home });
  await running.seen("stdout", /"code"/u);
  const { url, code }: Json = JSON.parse(running.stdout().split("\n")[0] ?? "");
  const plain = { origin: url, "content-type": "application/json", "x-acp-inbox": "1" };
  const signed = await localFetch(`${url}/api/session`, {
    method: "POST",
    headers: plain,
    body: JSON.stringify({ code }),
  });
  const { key }: Json = await signed.json();
  const headers = {
    ...plain,
    "x-acp-inbox": String(key),
    cookie: signed.headers.get("set-cookie")?.split(";")[0] ?? "",
  };
  return {
    origin: url,
    get: async (path) => (await localFetch(url + path, { headers })).json(),
    async post(path, body) {
      const answer = await localFetch(url + path, {
        method: "POST",
        headers,
        body: JSON.stringify(body),
      });
      return { status: answer.status, body: await answer.json() };
    },
    [Symbol.asyncDispose]: () => running[Symbol.asyncDispose](),
  };
}

const show = async (page: Page, review: string): Promise<Json> =>
  (await page.post("/api/reviews/show", { review })).body;

async function own(world: RunWorld, name: string, text: string): Promise<void> {
  const { uid, gid } = await stat(world.work);
  await chown(await world.write(name, text), uid, gid);
}

describe.skipIf(!NAMESPACE.run)(`acp inbox with reviews ${NAMESPACE.reason}`, () => {
  it("shows hostile names escaped, takes one of two files with a passkey, and the log says who", async () => {
    await using world = await runWorld();
    await own(world, "a.txt", "one\n");
    const hostile = String.raw`b\033[2K\nc\342\200\256<img src=x onerror=alert(1)>`;
    const script = `echo two > a.txt; printf x > "$(printf '${hostile}')"; mkdir sub; echo 1 > sub/one; echo 2 > sub/two; echo x > .envrc`;
    await world.run(["sh", "-c", script], REVIEW);
    await using page = await openPage(world.home);
    const key = createSoftwarePasskey(page.origin);
    const options = await page.post("/api/passkeys/options", {});
    expect(
      await page.post("/api/passkeys", {
        registration: key.register(options.body),
        label: "phone",
      }),
    ).toMatchObject({ status: 201 });
    const { reviews } = await page.get("/api/reviews");
    expect(reviews).toMatchObject([{ workspace: world.work, running: false, changes: 6 }]);
    expect(reviews[0].command).toMatch(/^sh -c echo two/u);
    const { id } = reviews[0];
    const shown = await show(page, id);
    expect(shown.rows.map((row: Json) => row.part)).toEqual([
      "apart",
      "plain",
      "plain",
      "folder",
      "plain",
      "plain",
    ]);
    for (const { text } of shown.rows) expect(text).not.toMatch(/[\u001b\u202e\n]/u);
    expect(shown.rows[1].lines).toContain("+two");
    const order = { review: id, digest: shown.digest, picks: [1, 4] };
    const { body: prepared } = await page.post("/api/reviews/prepare", order);
    const without = await page.post("/api/reviews/take", { ticket: prepared.ticket });
    expect(without).toMatchObject({ status: 403, body: { code: "passkey_required" } });
    expect(await readFile(join(world.work, "a.txt"), "utf8")).toBe("one\n");
    const { body: again } = await page.post("/api/reviews/prepare", order);
    const taken = await page.post("/api/reviews/take", {
      ticket: again.ticket,
      assertion: key.assert(again.passkey),
    });
    expect(taken).toMatchObject({ status: 200, body: { over: false, whole: true } });
    // A folder's other file stays: the folder came along, and was not named.
    expect((await readdir(world.work)).sort()).toEqual(["a.txt", "sub"]);
    expect(await readdir(join(world.work, "sub"))).toEqual(["one"]);
    expect(await readFile(join(world.work, "a.txt"), "utf8")).toBe("two\n");
    const notes = (await world.events()).filter(
      ({ metadata }) => metadata["review"] === id && metadata["digest"] !== undefined,
    );
    expect(
      notes.map(({ metadata }) => [
        metadata["text"],
        metadata["approver"],
        metadata["channel"],
        typeof metadata["passkey"],
      ]),
    ).toEqual([
      [`Taking 2 paths of review ${id}`, expect.any(String), "inbox", "string"],
      [`Took 3 changes of review ${id}`, expect.any(String), "inbox", "string"],
    ]);
  });

  it("refuses a digest that was frozen anew, and places that cannot be picked; drops, and not while the command runs", async () => {
    await using world = await runWorld();
    await own(world, "here.txt", "one\n");
    await using started = world.start(
      ["sh", "-c", "echo 1 > a; echo two > here.txt; echo ready; exec sleep 600"],
      REVIEW,
    );
    await started.seen("stdout", "ready");
    await using page = await openPage(world.home, "--passkey-from", "critical");
    const [{ id }] = (await page.get("/api/reviews")).reviews;
    const first = await show(page, id);
    expect(first).toMatchObject({ running: true });
    const dropped = { review: id, digest: first.digest };
    expect(await page.post("/api/reviews/drop", dropped)).toMatchObject({
      status: 409,
      body: { code: "review_running" },
    });
    await writeFile(join(world.work, "here.txt"), "person\n");
    expect((await acp(["review", "show", id], { home: world.home, cwd: world.work })).code).toBe(0);
    const take = async (digest: string, picks: readonly number[]): Promise<Json> => {
      const { body } = await page.post("/api/reviews/prepare", { review: id, digest, picks });
      return page.post("/api/reviews/take", { ticket: body.ticket });
    };
    expect(await take(first.digest, [0])).toMatchObject({
      status: 409,
      body: { code: "review_changed" },
    });
    const second = await show(page, id);
    expect(second.digest).not.toBe(first.digest);
    expect(second.rows.map((row: Json) => row.part)).toEqual(["plain", "here"]);
    for (const picks of [[1], [0, 1], [2], [9_999]])
      expect(await take(second.digest, picks)).toMatchObject({
        status: 409,
        body: { code: "review_changed" },
      });
    expect(await readdir(world.work)).toEqual(["here.txt"]);
    expect(await take(second.digest, [0])).toMatchObject({ status: 200 });
    expect(await readFile(join(world.work, "a"), "utf8")).toBe("1\n");
    started.child.kill("SIGKILL");
    await started.ended;
    const third = await show(page, id);
    expect(
      await page.post("/api/reviews/drop", { review: id, digest: third.digest }),
    ).toMatchObject({ status: 200, body: { over: true } });
    expect((await page.get("/api/reviews")).reviews).toEqual([]);
    expect(await readFile(join(world.work, "here.txt"), "utf8")).toBe("person\n");
  });
});
