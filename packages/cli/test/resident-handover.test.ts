/**
 * Releases of ACP side by side: a newer one takes the place of the resident that runs, an older one
 * is served by it, and no two flip each other. Every installation is a copy of the built program.
 */
import { realpathSync } from "node:fs";
import { utimes, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { attachApprovers } from "@acp/channel-terminal";
import { describe, expect, it, vi } from "vitest";
import { askIfOurs } from "../src/resident/control.js";
import { placesOf } from "../src/resident/places.js";
import { install, residentWorld, startsOf, textOf } from "./resident-world.js";
import type { RawClient, ResidentWorld } from "./resident-world.js";

const PATIENCE = { timeout: 60_000 };

async function statusOf(at: ResidentWorld): Promise<{
  readonly version: string;
  readonly pid: number;
  readonly is_current: boolean;
  readonly questions: number;
}> {
  const { stdout } = await at.acp(["resident", "status", "--json"]);
  return JSON.parse(stdout);
}

/** The call is done; where it is not, why. */
async function expectDone(client: RawClient, n: number | string): Promise<void> {
  const { result, error } = await client.call("act", { n });
  const want = { text: String(n), error: undefined, said: expect.any(String) };
  expect({ text: textOf({ ...(result && { result }) }), error, said: client.stderr() }).toEqual(
    want,
  );
}

/** Each request got one answer. */
function expectOneEach(...clients: readonly RawClient[]): void {
  for (const { answers } of clients)
    for (const [id, all] of answers) expect([id, all.length]).toEqual([id, 1]);
}

describe("a resident of an older version", () => {
  it("gives way to a newer client, finishes what runs, keeps its questions, and an older client changes nothing", async () => {
    await using at = await residentWorld();
    const old = await install(join(at.path, "old"), "1.0.0");
    const next = await install(join(at.path, "next"), "1.1.0-rc.1");
    await using first = await at.client({ bin: old.bin, args: ["--agent", "first"] });
    expect(await statusOf(at)).toMatchObject({ version: "1.0.0", is_current: true });
    const stop = new AbortController();
    const directory = join(at.home, "run");
    await using approver = await attachApprovers({ directory, signal: stop.signal });
    await vi.waitFor(() => expect(approver.gates()).toBe(1), PATIENCE);
    void first.call("ask", { n: 7 }).catch(() => undefined);
    await vi.waitFor(() => expect(approver.pending()).toHaveLength(1), PATIENCE);
    const asked = approver.pending()[0]?.request.id;
    const slow = first.call("act", { n: 1, ms: 1_500 });
    await vi.waitFor(() => expect(at.done()).toEqual(["1"]), PATIENCE);

    await using second = await at.client({ bin: next.bin, args: ["--agent", "second"] });
    await expectDone(second, 2);
    expect(textOf(await slow)).toBe("1");
    await expectDone(first, 3);
    expect(await statusOf(at)).toMatchObject({ version: "1.1.0-rc.1" });
    expect(await startsOf(at.home)).toBe(2);

    // The same question, and nobody was asked twice.
    await vi.waitFor(() => expect(approver.pending()[0]?.request.id).toBe(asked), PATIENCE);
    expect(approver.pending()).toHaveLength(1);

    // Nobody takes its place but a newer one.
    await using third = await at.client({ bin: old.bin, args: ["--agent", "third"] });
    await expectDone(third, 4);
    expect(await startsOf(at.home)).toBe(2);
    expectOneEach(first, second, third);
    stop.abort();
  });

  it("stays where the newer one cannot be started, and serves its client", async () => {
    await using at = await residentWorld();
    const old = await install(join(at.path, "old"), "1.0.0");
    const next = await install(join(at.path, "next"), "1.1.0");
    await using first = await at.client({ bin: old.bin });
    const { pid } = await statusOf(at);
    await rm(join(next.folder, "dist/index.js"));
    await writeFile(join(next.folder, "dist/index.js"), "throw new Error('broken');");
    await using second = await at.client({ bin: next.bin, args: ["--agent", "second"] });
    expect(second.stderr()).toContain("An older version of ACP still serves this home");
    await expectDone(second, 1);
    await expectDone(first, 2);
    expect((await statusOf(at)).pid).toBe(pid);
  });
});

it("of two builds of one version the first stays, until its own files are others", async () => {
  await using at = await residentWorld();
  const one = await install(join(at.path, "one"), "1.0.0");
  const two = await install(join(at.path, "two"), "1.0.0");
  await using first = await at.client({ bin: one.bin });
  await using second = await at.client({ bin: two.bin, args: ["--agent", "second"] });
  await expectDone(second, 1);
  expect(await startsOf(at.home)).toBe(1);
  // Also where somebody asks for it, and names another build or an older version.
  const places = placesOf(realpathSync(at.home), { env: {}, uid: process.getuid?.() ?? -1 });
  for (const version of ["1.0.0", "0.9.9", "", "unknown"])
    expect(await askIfOurs(places, { ask: "handover", version, build: "other" })).toEqual({
      handing_over: false,
    });
  const entry = join(one.folder, "dist/index.js");
  await utimes(entry, 1, 1);
  expect(await statusOf(at)).toMatchObject({ is_current: false });
  await using third = await at.client({ bin: two.bin, args: ["--agent", "third"] });
  await using fourth = await at.client({ bin: one.bin, args: ["--agent", "fourth"] });
  for (const [n, client] of [first, second, third, fourth].entries())
    await expectDone(client, n + 2);
  expect(await startsOf(at.home)).toBe(2);
});

it("acp resident restart puts one of its own version in the place of any, also of one that hangs", async () => {
  await using at = await residentWorld();
  const old = await install(join(at.path, "old"), "1.0.0");
  const next = await install(join(at.path, "next"), "1.1.0");
  await using client = await at.client({ bin: next.bin });
  const slow = client.call("act", { n: 1, ms: 1_000 });
  await vi.waitFor(() => expect(at.done()).toEqual(["1"]), PATIENCE);
  const was = at.pid();
  // A person may go back.
  const { code, stdout } = await old.acp(["resident", "restart", "--json", "--home", at.home]);
  expect([code, JSON.parse(stdout)]).toEqual([
    0,
    { restarted: true, pid: at.pid(), version: "1.0.0", was },
  ]);
  expect(textOf(await slow)).toBe("1");
  await expectDone(client, 2);
  const hung = at.pid();
  process.kill(hung, "SIGSTOP");
  const again = await next.acp(["resident", "restart", "--json", "--home", at.home]);
  expect(JSON.parse(again.stdout)).toMatchObject({ restarted: true, version: "1.1.0", was: hung });
  await using other = await at.client({ bin: next.bin, args: ["--agent", "other"] });
  await expectDone(other, 3);
  expect(await statusOf(at)).toMatchObject({ version: "1.1.0" });
  await at.acp(["resident", "stop"]);
  const first = await next.acp(["resident", "restart", "--json", "--home", at.home]);
  expect(JSON.parse(first.stdout)).toMatchObject({ restarted: true, was: null });
});

it("runs on when its files are gone", async () => {
  await using at = await residentWorld();
  const old = await install(join(at.path, "old"), "1.0.0");
  await using first = await at.client({ bin: old.bin });
  await rm(join(old.folder, "dist"), { recursive: true });
  await using second = await at.client({ args: ["--agent", "second"] });
  await expectDone(second, 1);
  await expectDone(first, 2);
  expect(await startsOf(at.home)).toBe(1);
});

it("gives way ten times under load, and no request is done twice or lost", async () => {
  await using at = await residentWorld();
  const places = [
    await install(join(at.path, "a"), "1.0.0"),
    await install(join(at.path, "b"), "1.0.0"),
  ] as const;
  const load = [
    await at.client({ bin: places[0].bin, args: ["--agent", "one"] }),
    await at.client({ bin: places[1].bin, args: ["--agent", "two"] }),
  ];
  const over = new AbortController();
  let n = 0;
  const odd: unknown[] = [];
  const loads = load.flatMap((client) =>
    [0, 1, 2].map(async () => {
      while (!over.signal.aborted) {
        const own = n++;
        const answer = await client.call("act", { n: own, ms: own % 5 === 0 ? 30 : 0 });
        if (textOf(answer) !== String(own)) odd.push(answer);
      }
    }),
  );
  for (let flip = 1; flip <= 10; flip++) {
    const place = places[flip % 2 === 0 ? 0 : 1];
    await place.become(`1.${flip}.0`);
    await using client = await at.client({ bin: place.bin, args: ["--agent", `flip-${flip}`] });
    await expectDone(client, `flip ${flip}`);
    expect(await statusOf(at)).toMatchObject({ version: `1.${flip}.0` });
  }
  over.abort();
  await Promise.all(loads);
  expect(await startsOf(at.home)).toBe(11);
  // Whatever finishes in time finishes: nothing is left in doubt.
  expect(odd).toEqual([]);
  expect(new Set(at.done()).size).toBe(at.done().length);
  expect(at.done()).toHaveLength(n + 10);
  expectOneEach(...load);
  for (const client of load) await client[Symbol.asyncDispose]();
});
