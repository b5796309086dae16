/**
 * docs/how-to/channels/webhook.md: its receiver and its agent are run as they stand there, one as a
 * program of its own.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, it, vi } from "vitest";
import { SECRET } from "./receiver.js";

const page = readFileSync(
  new URL("../../../docs/how-to/channels/webhook.md", import.meta.url),
  "utf8",
);
const block = (name: string): string =>
  new RegExp(`\`\`\`js\n(// ${name}\n[^]*?)\`\`\``).exec(page)?.[1] ?? "";
const here = fileURLToPath(new URL("..", import.meta.url));
const patience = { timeout: 120_000, interval: 20 };

const stops: (() => void)[] = [];

afterEach(() => {
  for (const stop of stops.splice(0).toReversed()) stop();
  vi.unstubAllEnvs();
});

/** A folder from which programs find the packages that this one has. */
function scratch(): string {
  mkdirSync(join(here, "temp"), { recursive: true });
  const folder = mkdtempSync(join(here, "temp", "guide-"));
  stops.push(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

interface Program {
  said(): string;
  type(line: string): void;
}

function run(path: string): Program {
  const child: ChildProcess = spawn(process.execPath, [path], {
    env: { ...process.env, WEBHOOK_SECRET: SECRET, PORT: "0" },
  });
  let said = "";
  child.stdout?.on("data", (chunk: Buffer) => (said += String(chunk)));
  child.stderr?.on("data", (chunk: Buffer) => (said += String(chunk)));
  stops.push(() => void child.kill());
  return { said: () => said, type: (line) => void child.stdin?.write(`${line}\n`) };
}

/** Runs both; resolves with what the agent says once the person at the receiver has typed. */
async function ask(typed: string): Promise<readonly string[]> {
  const folder = scratch();
  writeFileSync(join(folder, "receiver.mjs"), block("receiver.mjs"));
  writeFileSync(join(folder, "agent.mjs"), block("agent.mjs"));
  const receiver = run(join(folder, "receiver.mjs"));
  await expect.poll(receiver.said, patience).toMatch(/port: \d+/);
  vi.stubEnv("WEBHOOK_URL", `http://127.0.0.1:${/port: (\d+)/.exec(receiver.said())?.[1] ?? ""}/`);
  vi.stubEnv("WEBHOOK_SECRET", SECRET);
  const log = vi.spyOn(console, "log").mockImplementation(() => undefined);
  stops.push(() => log.mockRestore());
  const agent: Promise<unknown> = import(/* @vite-ignore */ join(folder, "agent.mjs"));
  await expect.poll(receiver.said, patience).toContain("Type approve to approve it:");
  expect(receiver.said()).toContain('"path": "notes.txt"');
  receiver.type(typed);
  await agent;
  return log.mock.calls.map(([text]) => String(text));
}

describe("docs/how-to/channels/webhook.md", () => {
  it("has a receiver of about twenty lines", () => {
    expect(
      block("receiver.mjs")
        .trim()
        .split("\n")
        .filter((line) => line !== "").length,
    ).toBeLessThanOrEqual(25);
  });

  it("gets to the first approval", async () => {
    expect(await ask("approve")).toEqual(["written"]);
  });

  it("takes anything else for a no", async () => {
    expect(await ask("yes")).toEqual([expect.stringMatching(/^not written: /)]);
  });
});
