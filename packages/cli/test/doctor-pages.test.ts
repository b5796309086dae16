/**
 * docs/reference/findings.md and spec/schemas/doctor.schema.json come from the table of codes. After
 * a change: npx vitest run packages/cli/test/doctor-pages.test.ts -u, and the schema by hand.
 */
import { fileURLToPath } from "node:url";
import { isJsonObject } from "@acp/core";
import { readFile, rm, truncate } from "node:fs/promises";
import { afterAll, describe, expect, it } from "vitest";
import { FINDINGS } from "../src/doctor/codes.js";
import { EXAMINATIONS } from "../src/doctor/examine.js";
import { acpHere } from "./acp-here.js";
import { doctorWorld, edit, removeTemplate } from "./doctor-world.js";

afterAll(removeTemplate);

const fileOf = (path: string): string =>
  fileURLToPath(new URL(`../../../${path}`, import.meta.url));
const CODES = Object.keys(FINDINGS).toSorted();

const finding = {
  type: "object",
  additionalProperties: false,
  required: ["code", "level", "found", "why", "command", "can_fix"],
  properties: {
    code: { enum: CODES },
    level: { enum: ["warning", "error"] },
    found: { type: "string", description: "What is so." },
    path: { type: "string", description: "The file, folder or socket that it is about." },
    why: { type: "string", description: "Why it matters." },
    command: { type: "string", description: "What mends it." },
    can_fix: { type: "boolean", description: "Whether acp doctor --fix can mend it." },
  },
} as const;

const examination = {
  type: "object",
  additionalProperties: false,
  required: ["id", "looks_at", "level", "findings"],
  properties: {
    id: { enum: EXAMINATIONS.map(({ id }) => id) },
    looks_at: { type: "string" },
    level: {
      enum: ["ok", "warning", "error", "skipped"],
      description: "The worst of its findings; skipped: there was no home to look into.",
    },
    findings: { type: "array", items: finding },
    notes: {
      type: "array",
      items: { type: "string" },
      description: "What is so and not wrong; left out where there is nothing to say.",
    },
  },
} as const;

const fixed = {
  type: "object",
  additionalProperties: false,
  required: ["code", "is_done", "text"],
  properties: {
    code: { enum: CODES },
    path: { type: "string" },
    is_done: { type: "boolean" },
    text: { type: "string", description: "What was done, or why not." },
  },
} as const;

const SCHEMA = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  title: "What acp doctor --json prints",
  type: "object",
  additionalProperties: false,
  required: ["version", "home", "ok", "examinations", "fixed"],
  properties: {
    version: { const: "1" },
    home: { type: "string" },
    ok: {
      type: "boolean",
      description: "Whether there is no error, and everything that was to be mended is.",
    },
    examinations: { type: "array", items: examination },
    fixed: { type: "array", items: fixed },
  },
} as const;

function page(): string {
  const rows = CODES.map((code) => {
    const { level, why, command } = FINDINGS[code as keyof typeof FINDINGS];
    return `| \`${code}\` | ${level} | ${why} | \`${command.replaceAll("|", "\\|")}\` |`;
  });
  return [
    "# Findings of acp doctor",
    "",
    "The table that `acp doctor` itself reads (packages/cli/src/doctor) generates this page. Programs",
    "match on the code; the texts may change. `PATH` stands for the path that the finding names. How",
    "to use it: [Find and repair what is wrong](../how-to/doctor.md).",
    "",
    "| code | level | why it matters | what repairs it |",
    "|---|---|---|---|",
    ...rows,
    "",
  ].join("\n");
}

it("docs/reference/findings.md is what the table of codes says", async () => {
  await expect(page()).toMatchFileSnapshot(fileOf("docs/reference/findings.md"));
});

it("spec/schemas/doctor.schema.json is what the table of codes says", async () => {
  const published = await readFile(fileOf("spec/schemas/doctor.schema.json"), "utf8");
  expect(JSON.parse(published)).toEqual(SCHEMA);
});

/** The words of JSON Schema that SCHEMA uses. */
function problems(schema: unknown, value: unknown, at = "$"): readonly string[] {
  if (!isJsonObject(schema)) return [];
  const { type, enum: words, const: only, items, properties, required } = schema;
  if (only !== undefined && only !== value) return [`${at} is not ${String(only)}`];
  if (Array.isArray(words) && !words.includes(value)) return [`${at} is ${String(value)}`];
  if (type === "array")
    return Array.isArray(value)
      ? value.flatMap((each, index) => problems(items, each, `${at}[${index}]`))
      : [`${at} is not an array`];
  if (type === "object") {
    if (!isJsonObject(value) || !isJsonObject(properties)) return [`${at} is not an object`];
    const missing = (Array.isArray(required) ? required : []).filter(
      (key) => !Object.hasOwn(value, String(key)),
    );
    return [
      ...missing.map((key) => `${at} lacks ${String(key)}`),
      ...Object.entries(value).flatMap(([key, each]) =>
        Object.hasOwn(properties, key)
          ? problems(properties[key], each, `${at}.${key}`)
          : [`${at} has ${key}`],
      ),
    ];
  }
  return type === undefined || typeof value === type ? [] : [`${at} is no ${String(type)}`];
}

describe("acp doctor", () => {
  const run = (home: string, ...args: readonly string[]): ReturnType<typeof acpHere> =>
    acpHere(["doctor", ...args], { home });

  it("exits with 0 where there is no error, and says what it looked at", async () => {
    const { home } = await doctorWorld();
    const ended = await run(home.dir, "--quick");
    expect(ended).toMatchObject({ code: 0, stderr: "" });
    for (const { id } of EXAMINATIONS) expect(ended.stdout).toMatch(new RegExp(`^ok +${id} `, "m"));
    expect(ended.stdout).not.toContain("\u001b");
    expect(ended.stdout).toMatch(/0 errors, 0 warnings\n$/);
  });

  it("exits with 1 where there is an error, and prints what the schema says", async () => {
    const world = await doctorWorld();
    await edit(world.log, (text) => text.replace("sample 3", "simple 3"));
    await truncate(world.home.passkeysPath);
    for (const args of [["--json"], ["--json", "--fix", "--yes"], ["--json", "--quick"]]) {
      const { code, stdout } = await run(world.home.dir, ...args);
      const value: unknown = JSON.parse(stdout);
      expect(problems(SCHEMA, value)).toEqual([]);
      expect(code).toBe(args.length === 1 ? 1 : 0);
    }
    await rm(world.home.dir, { recursive: true });
    const { code, stdout } = await run(world.home.dir, "--json");
    expect(code).toBe(1);
    expect(problems(SCHEMA, JSON.parse(stdout))).toEqual([]);
    expect(problems(SCHEMA, { version: "2" })).not.toEqual([]);
  });

  it("asks before it changes something, and not where nobody can be asked", async () => {
    const world = await doctorWorld();
    expect(await run(world.home.dir, "--fix")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("add --yes"),
    });
    expect(await run(world.home.dir, "--yes")).toMatchObject({ code: 2 });
    expect(await run(world.home.dir, "log_nul")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("acp doctor --fix log_nul"),
    });
    expect(await run(world.home.dir, "--fix", "log_null", "--yes")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('did you mean "log_nul"'),
    });
  });

  it("mends only the finding that is named, and the log says so", async () => {
    const world = await doctorWorld();
    const { home } = world;
    await truncate(home.passkeysPath);
    await edit(world.log, (text) => `${text}{"agent":"`);
    const ended = await run(home.dir, "--quick", "--fix", "passkeys_broken", "--yes");
    expect(ended.stdout).toMatch(/^fixed passkeys_broken: passkeys\.json was set aside as /);
    expect(ended.code).toBe(0);
    const shown = await acpHere(["audit", "show"], { home: home.dir });
    expect(shown.stdout).toMatch(
      /gate_notice .*passkeys_broken: about to set .*passkeys\.json aside/,
    );
  });
});
