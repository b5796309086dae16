/**
 * `acp suggest` over logs that a real gate wrote, and as docs/how-to/suggest.md
 * shows it.
 */
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openAuditLog } from "@acp/audit";
import { createConsentGate, toolAction } from "@acp/core";
import type { AuditEventInput, AuditSink } from "@acp/core";
import { readPolicy } from "@acp/core/yaml";
import { manualClock, scriptedChannel, seededIds } from "@acp/testing";
import type { ScriptedAnswer } from "@acp/testing";
import { EXIT_CODES } from "../src/exit-codes.js";
import { acpHere } from "./acp-here.js";
import { scratch } from "./environment.js";
import type { Ended, Scratch } from "./environment.js";

const PAGE = await readFile(new URL("../../../docs/how-to/suggest.md", import.meta.url), "utf8");
const blockOf = (language: string): string =>
  new RegExp(`^\`\`\`${language}\\n([^]*?)^\`\`\`$`, "m").exec(PAGE)?.[1] ?? "";
const POLICY = blockOf("yaml");

interface Call {
  readonly answer: ScriptedAnswer;
  readonly server: string;
  readonly tool: string;
  readonly args: object;
}

const numbers = (count: number): readonly number[] =>
  Array.from({ length: count }, (_, index) => index);
const calls = (
  answer: ScriptedAnswer,
  [server, tool]: readonly [string, string],
  list: readonly object[],
): readonly Call[] => list.map((args) => ({ answer, server, tool, args }));

const WORDS = ["Setup", "Usage", "Errors", "Limits", "History", "Licence", "Contact"];

/** Some days of work. */
const DAYS: readonly Call[] = [
  ...calls(
    "approve",
    ["files", "write_file"],
    numbers(7).map((n) => ({
      path: `~/projects/site/docs/page-${n}.md`,
      content: `# ${WORDS[n]}\n\nPage ${n}.\n`,
    })),
  ),
  ...calls(
    "ignore",
    ["files", "write_file"],
    [{ path: "~/projects/site/docs/late.md", content: "# Notes\n" }],
  ),
  ...calls(
    "deny",
    ["files", "write_file"],
    [{ path: "~/projects/site/package.json", content: "{}" }],
  ),
  ...calls(
    "approve",
    ["github", "create_issue"],
    numbers(6).map((n) => ({
      repo: "ada/site",
      title: `Docs: ${WORDS[n]}`,
      body: `- [ ] ${WORDS[n]}\n`,
    })),
  ),
  ...calls(
    "deny",
    ["github", "create_repository"],
    numbers(3).map((n) => ({ name: `copy-${n}` })),
  ),
  ...calls(
    "approve",
    ["github", "merge_and_delete_branch"],
    numbers(6).map((n) => ({ branch: `docs-${n}` })),
  ),
  ...calls(
    "approve",
    ["files", "move_file"],
    numbers(3).map((n) => ({ source: `~/a${n}`, destination: `~/b${n}` })),
  ),
];

interface World extends Scratch {
  readonly home: string;
  run(args: readonly string[]): Promise<Ended>;
  /** Lets a gate judge the calls, and writes its log. */
  live(list: readonly Call[], name?: string): Promise<void>;
}

/**
 * The events of a gate that judged the calls, three hours apart. The disk comes after it: on a
 * clock that a test moves, it would be too slow.
 */
async function judged(
  list: readonly Call[],
  policy: string,
  home: string,
): Promise<readonly AuditEventInput[]> {
  const events: AuditEventInput[] = [];
  const clock = manualClock(Date.UTC(2026, 0, 5, 9));
  const channel = scriptedChannel(
    list.map(({ answer }) => answer),
    { clock },
  );
  const append: AuditSink["append"] = (more) => {
    events.push(...more);
    return Promise.resolve({ seq: events.length - 1, hash: "" });
  };
  await using gate = createConsentGate({
    policy: readPolicy(policy, { home, cwd: home }),
    channel,
    audit: { append },
    clock,
    ids: seededIds(),
  });
  for (const { server, tool, args } of list) {
    clock.jump(3 * 3_600_000);
    const verdict = gate(toolAction(server, tool, args), { agent: { id: "coder" } });
    await clock.advance(0);
    await clock.advance(200_000); // what nobody answered is over by then
    await verdict;
  }
  return events;
}

async function world(policy: string | undefined = POLICY): Promise<World> {
  const at = await scratch();
  const home = join(at.path, ".acp");
  const run = (args: readonly string[]): Promise<Ended> =>
    acpHere(args, { cwd: at.path, env: { HOME: at.path } });
  await mkdir(home, { mode: 0o700 });
  if (policy !== undefined) await writeFile(join(home, "policy.yml"), policy, { mode: 0o600 });
  const live: World["live"] = async (list, name = "audit.jsonl") => {
    await using log = await openAuditLog({ path: join(home, name) });
    await log.append(await judged(list, policy ?? "default: ask", at.path));
  };
  return { ...at, home, run, live };
}

describe("acp suggest", () => {
  it("says what docs/how-to/suggest.md shows", async () => {
    await using at = await world();
    await at.live(DAYS);
    const before = await readFile(join(at.home, "policy.yml"), "utf8");
    const { code, stdout, stderr } = await at.run(["suggest"]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout.replaceAll(at.path, "~")).toBe(blockOf("text"));
    expect(await readFile(join(at.home, "policy.yml"), "utf8")).toBe(before);
  });

  it("shows text that, pasted where it says, loads and does what it says", async () => {
    await using at = await world();
    await at.live(DAYS);
    const { suggestions } = JSON.parse((await at.run(["suggest", "--json"])).stdout);
    const lines = POLICY.split("\n");
    const { line } = suggestions[0].place;
    const pasted = suggestions.map(({ yaml }: { readonly yaml: string }) => yaml).join("");
    await writeFile(
      join(at.home, "policy.yml"),
      [...lines.slice(0, line - 1), pasted.trimEnd(), ...lines.slice(line - 1)].join("\n"),
    );
    const explain = async (tool: string, args: object): Promise<unknown> => {
      const { stdout } = await at.run([
        "policy",
        "explain",
        "--json",
        "--tool",
        tool,
        "--args",
        JSON.stringify(args),
      ]);
      return JSON.parse(stdout).effect;
    };
    expect((await at.run(["policy", "check"])).code).toBe(0);
    expect(
      await explain("files.write_file", { path: "~/projects/site/docs/new.md", content: "x" }),
    ).toBe("allow");
    expect(
      await explain("files.write_file", { path: "~/projects/site/package.json", content: "x" }),
    ).toBe("ask");
    expect(await explain("files.write_file", { path: "~/.ssh/id_ed25519", content: "x" })).toBe(
      "deny",
    );
    expect(await explain("github.create_repository", { name: "other" })).toBe("deny");
    // What is answered by now is not suggested again.
    expect(JSON.parse((await at.run(["suggest", "--json"])).stdout).suggestions).toEqual([]);
  });

  it("reads all logs of the home, or the one that is named", async () => {
    await using at = await world();
    const list = DAYS.slice(0, 6);
    await at.live(list.slice(0, 3));
    await at.live(list.slice(3), "audit.2.jsonl");
    const found = async (...args: readonly string[]): Promise<number> =>
      JSON.parse((await at.run(["suggest", "--json", ...args])).stdout).suggestions.length;
    expect(await found()).toBe(1);
    expect(await found("--min", "6")).toBe(1);
    expect(await found("--min", "7")).toBe(0);
    expect(await found(join(at.home, "audit.2.jsonl"))).toBe(0);
    expect(await found(join(at.home, "audit.2.jsonl"), "--min", "3")).toBe(1);
    expect(await found("--since", "2026-01-05T13:00:00Z")).toBe(0);
    expect(await found("--since", "2026-01-05T13:00:00Z", "--min", "4")).toBe(1);
  });

  it("takes a home without a policy for one that asks about everything", async () => {
    await using at = await world(undefined);
    await rm(join(at.home, "policy.yml"), { force: true });
    await at.live(DAYS.slice(0, 6));
    const { code, stdout, stderr } = await at.run(["suggest"]);
    expect(code).toBe(0);
    expect(stderr).toContain("policy.yml does not exist");
    expect(stdout).toContain(
      "As the first rule, under the key rules:\n\n  - id: allow-files-write_file\n",
    );
  });

  it.each([
    ["a number that is none", ["--min", "many"], "usage", "options_invalid"],
    ["one approval", ["--min", "1"], "usage", "options_invalid"],
    ["a time that is none", ["--since", "some day"], "usage", "options_invalid"],
    ["a log that is not there", ["./nothing.jsonl"], "audit", "audit_failed"],
  ] as const)("refuses %s", async (_what, args, exit, code) => {
    await using at = await world();
    await at.live(DAYS.slice(0, 1));
    const ended = await at.run(["suggest", "--json", ...args]);
    expect([ended.code, JSON.parse(ended.stderr).error.code]).toEqual([
      EXIT_CODES[exit].code,
      code,
    ]);
  });

  it("refuses a policy that does not load, a home without logs and a log that is none", async () => {
    await using at = await world();
    expect((await at.run(["suggest"])).code).toBe(EXIT_CODES.invalid.code);
    await writeFile(join(at.home, "audit.jsonl"), "no event\n");
    expect((await at.run(["suggest"])).code).toBe(EXIT_CODES.audit.code);
    await rm(join(at.home, "audit.jsonl"));
    await at.live(DAYS.slice(0, 1));
    await writeFile(join(at.home, "policy.yml"), "rules: 5\n");
    const ended = await at.run(["suggest"]);
    expect(ended.code).toBe(EXIT_CODES.invalid.code);
    expect(ended.stderr).toMatch(/^acp: .*policy\.yml:1:8: Cannot load policy/);
  });
});
