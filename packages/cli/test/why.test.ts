/**
 * `acp why` in a home of some hundred events that a real gate wrote, and as
 * docs/how-to/answer-questions-about-the-past.md shows it.
 */
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { blocksOf } from "../../../tools/markdown.js";
import { EXIT_CODES } from "../src/exit-codes.js";
import { acpHere } from "./acp-here.js";
import { type Ended, type Scratch, scratch } from "./environment.js";
import { CALLS, decided, writeLog } from "./why-world.js";

// The process of this file, and so the clock of every command.
process.env["TZ"] = "Europe/Berlin";

const PAGE = await readFile(
  new URL("../../../docs/how-to/answer-questions-about-the-past.md", import.meta.url),
  "utf8",
);
const HUNDREDS = [...CALLS, ...Array.from({ length: 12 }, () => CALLS.slice(0, 7)).flat()];
const { events } = await decided(HUNDREDS);

interface World extends Scratch {
  readonly home: string;
  run(...args: readonly string[]): Promise<Ended>;
}

async function world(): Promise<World> {
  const at = await scratch();
  const home = join(at.path, "h");
  await writeLog(home, events);
  const run = (...args: readonly string[]): Promise<Ended> =>
    acpHere(args, { home, cwd: at.path, env: { HOME: at.path } });
  return { ...at, home, run };
}

const idOf = (type: string): string =>
  events.find(({ eventType }) => eventType === type)?.requestId ?? "";

describe("docs/how-to/answer-questions-about-the-past.md", () => {
  const steps = blocksOf(PAGE).flatMap(({ language, line, text }) => {
    if (language !== "console") return [];
    const [command = "", ...lines] = text.trimEnd().split("\n");
    return [{ line, words: command.replace(/^\$ acp /, "").split(" "), lines }];
  });

  it("has its commands", () => {
    expect(steps).toHaveLength(4);
    expect(PAGE).toContain("`acp pending`");
  });

  it("is what acp says", async () => {
    await using at = await world();
    for (const { words, lines } of steps) {
      const { stdout, stderr } = await at.run(...words);
      const said = `${stderr}${stdout}`.trimEnd().split("\n");
      const kept = lines.filter((each) => each !== "…");
      // What a page leaves out stands as "…" in its place.
      if (kept.length === lines.length) expect(said).toEqual(lines);
      else expect(said.filter((each) => kept.includes(each))).toEqual(kept);
    }
  });
});

describe("acp why ID", () => {
  it("explains a question by its ID, an event's, a number, and the beginning of one", async () => {
    await using at = await world();
    const id = idOf("consent_denied");
    const { code, stdout } = await at.run("why", id);
    expect([code, stdout]).toEqual([
      0,
      expect.stringMatching(
        /^denied: tool write_file on files\n[^]*answer +denied by local on terminal/,
      ),
    ]);
    const { seq, events: numbers } = JSON.parse((await at.run("why", id, "--json")).stdout);
    const denied = events.find(({ eventType }) => eventType === "consent_denied");
    for (const other of [String(seq), String(numbers.at(-1)), denied?.id ?? "", id.slice(0, -1)])
      if (other !== id.slice(0, -1)) expect((await at.run("why", other)).stdout).toBe(stdout);
  });

  it("says in JSON what it says in text, in UTC", async () => {
    await using at = await world();
    const said = JSON.parse((await at.run("why", idOf("consent_denied"), "--json")).stdout);
    expect(said).toMatchObject({
      at: "2026-01-05T10:00:03.000Z",
      agent: "coder",
      action: { kind: "tool", server: "files", tool: "write_file", parameters: { path: "b.md" } },
      verdict: { standing: "denied", code: "consent_denied", reason: "not in working hours" },
      rule: {
        id: "default",
        texts: [{ file: "/home/ada/.acp/policy.yml", line: 2, text: "default: ask" }],
      },
      question: { needed: 1, answers: [{ approver: "local", channel: "terminal", took_ms: 0 }] },
      run: { state: "never" },
      proof: { state: "unsigned" },
    });
  });

  it("says how a process that was killed left a call", async () => {
    await using at = await world();
    const forwarded = events.filter(({ eventType }) => eventType === "tool_call_forwarded");
    const completed = new Set(
      events
        .filter(({ eventType }) => eventType === "tool_call_completed")
        .map(({ requestId }) => requestId),
    );
    const left = forwarded.find(({ requestId }) => requestId !== "" && !completed.has(requestId));
    const { stdout } = await at.run("why", left?.requestId ?? "");
    expect(stdout).toMatch(
      /outcome +nobody knows whether it ran, started at 13:06:50: the process ended/,
    );
  });

  it("lists several, and names one that is nearly it", async () => {
    await using at = await world();
    const several = await at.run("why", "cr_0000");
    expect(several).toMatchObject({
      code: EXIT_CODES.nothing.code,
      stderr: expect.stringMatching(/fits \d+ decisions: cr_/),
    });
    const id = idOf("consent_denied");
    const near = await at.run("why", `${id.slice(0, 5)}x${id.slice(6)}`);
    expect(near).toMatchObject({
      code: EXIT_CODES.nothing.code,
      stderr: expect.stringContaining("did you mean cr_"),
    });
    expect(await at.run("why", "nothing")).toMatchObject({ code: EXIT_CODES.nothing.code });
    expect(await at.run("why")).toMatchObject({ code: EXIT_CODES.usage.code });
  });

  it("does not show another rule where the text is not kept", async () => {
    await using at = await world();
    await rm(join(at.home, "policies"), { recursive: true });
    expect((await at.run("why", "2")).stdout).toContain(
      "its text at that moment is not known: the policy that was in force is not kept",
    );
  });
});

describe("acp why TIME", () => {
  it("explains the nearest decision, lists the others, and says where there is none", async () => {
    await using at = await world();
    const found = await at.run("why", "2026-01-05", "11:02", "--denied");
    expect(found.stdout).toMatch(/^denied: [^]*2026-01-05 11:00:03 \+01:00 \(Europe\/Berlin\)/);
    const json = JSON.parse((await at.run("why", "2026-01-05T10:00:00Z", "--json")).stdout);
    expect(json).toMatchObject({
      zone: "Europe/Berlin",
      nearest: { action: { parameters: { path: "b.md" } } },
    });
    const none = await at.run("why", "2025-01-05", "11:00");
    expect(none).toMatchObject({
      code: EXIT_CODES.nothing.code,
      stderr: expect.stringContaining("No decision from 2025-01-05 10:55:00 +01:00"),
    });
    expect((await at.run("why", "2026-01-05", "--agent", "other")).code).toBe(
      EXIT_CODES.nothing.code,
    );
  });

  it("names a home without logs", async () => {
    await using at = await scratch();
    const { code, stderr } = await acpHere(["why", "today"], { home: join(at.path, "none") });
    expect([code, stderr]).toEqual([
      EXIT_CODES.invalid.code,
      expect.stringContaining("home_invalid"),
    ]);
  });
});
