import { readPolicy } from "@acp/core/yaml";
import { parseConfig } from "@acp/home";
import { describe, expect, it } from "vitest";
import { checkSeveral, gateOptionsOf } from "./config.js";

const TWO = readPolicy(`version: "1"
rules:
  - { id: pay, match: { tool: pay }, action: ask, quorum: 2 }
`);
const ONE = readPolicy(`version: "1"\ndefault: ask\n`);
const config = (text: string): ReturnType<typeof parseConfig> =>
  parseConfig(text, { homeDir: "/home/ada", cwd: "/home/ada/.acp" });
const NAMED = `version: "1"\napprovers: [{ id: ada, channel: terminal, subject: local }, { id: bob, channel: telegram, subject: "7" }]\n`;

describe("checkSeveral()", () => {
  const files = { policyFile: "p.yml", file: "config.yml" };

  it("refuses a rule for several people where the configuration names nobody", async () => {
    for (const without of [undefined, config('version: "1"\n')])
      await expect(checkSeveral(TWO, { ...files, config: without })).rejects.toThrow(
        expect.objectContaining({
          code: "config_invalid",
          message:
            'p.yml:3:59: Cannot use policy: rule "pay" needs 2 people, and config.yml names no "approvers"',
        }),
      );
  });

  it("takes it where people are named, and any rule for one person", async () => {
    await checkSeveral(TWO, { ...files, config: config(NAMED) });
    await checkSeveral(ONE, { ...files, config: undefined });
  });
});

describe("gateOptionsOf()", () => {
  it("gives the gate the people, groups and bounds of the file, and nothing where there is none", () => {
    const text = `${NAMED}groups: { ops: [ada, bob] }\ndefaults: { timeout_seconds: 30, prompt_limit: 5/hour }\n`;
    expect(gateOptionsOf({ config: config(text) })).toEqual({
      groups: { ops: ["ada", "bob"] },
      askTimeoutMs: 30_000,
      promptLimit: { max: 5, windowMs: 3_600_000 },
      approvers: [
        { id: "ada", channel: "terminal", subject: "local" },
        { id: "bob", channel: "telegram", subject: "7" },
      ],
    });
    expect(gateOptionsOf({ config: undefined })).toEqual({ groups: {} });
  });
});
