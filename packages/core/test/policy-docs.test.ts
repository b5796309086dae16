import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { isConsentError, toolAction } from "../src/index.js";
import { readPolicy } from "../src/yaml.js";

const read = (path: string): string =>
  readFileSync(new URL(`../../../${path}`, import.meta.url), "utf8");
const blocks = (path: string): readonly string[] =>
  [...read(path).matchAll(/^```yaml\n([^]*?)^```$/gm)].map(([, block = ""]) => block);
/** A block is a whole policy, rules of one, or another part of one. */
const whole = (block: string): string => {
  if (block.startsWith("version:")) return block;
  return `version: "1"\n${block.startsWith("classify:") ? "default: ask\n" : "rules:\n"}${block}`;
};
const origins = { home: "/home/ada", cwd: "/work" };

describe.each(["docs/how-to/policy.md", "spec/policy.md"])("%s", (path) => {
  it.each(blocks(path).map((block, index) => [index + 1, block] as const))(
    "readPolicy() loads block %i without a warning",
    (_index, block) => {
      const { rules, warnings } = readPolicy(whole(block), origins);
      expect(warnings).toEqual([]);
      expect(rules.length > 0 || block.startsWith("classify:")).toBe(true);
    },
  );
});

describe("docs/how-to/policy.md", () => {
  it("shows the error that a misspelt key gives", () => {
    const text = `version: "1"\nrules:\n${"  - { match: { tool: a }, action: ask }\n".repeat(2)}${"#\n".repeat(6)}  - match:\n      tol: x\n    action: ask\n`;
    let message = "";
    try {
      readPolicy(text);
    } catch (error) {
      if (isConsentError(error)) message = error.message;
    }
    expect(read("docs/how-to/policy.md")).toContain(`\n${message}\n`);
  });

  it("protects keys and reads projects, as its first example says", () => {
    const policy = readPolicy(blocks("docs/how-to/policy.md")[0] ?? "", origins);
    const judge = (tool: string, path: string): string | undefined =>
      policy.judge(toolAction("files", tool, { path }), { agent: { id: "a" }, nowMs: 0 })?.effect;
    expect(judge("read_file", "~/projects/a.txt")).toBe("allow");
    expect(judge("read_file", "~/projects/../.ssh/id_ed25519")).toBe("deny");
    expect(judge("write_file", "~/projects/a.txt")).toBeUndefined();
  });
});
