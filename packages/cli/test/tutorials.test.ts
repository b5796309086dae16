/**
 * docs/tutorials: the lessons are followed as they stand there, and end as they say.
 */
import { spawn } from "node:child_process";
import { mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { blocksOf } from "../../../tools/markdown.js";
import { BIN, RESIDENT, acp, scratch } from "./harness.js";
import { answering } from "./mcp-client.js";

const require = createRequire(import.meta.url);
const read = (name: string): Promise<string> =>
  readFile(new URL(`../../../docs/tutorials/${name}.md`, import.meta.url), "utf8");
const lesson = blocksOf(await read("policy"));

/** The command of a console block, its words, and the lines that it prints. */
function consoleOf(text: string): {
  readonly words: readonly string[];
  readonly lines: readonly string[];
} {
  const [command = "", ...lines] = text.trimEnd().split("\n");
  const words = command.replace(/^\$ acp /, "").match(/'[^']*'|\S+/g) ?? [];
  return { words: words.map((word) => word.replace(/^'(.*)'$/, "$1")), lines };
}

describe("docs/tutorials/policy.md", () => {
  const steps = lesson.flatMap((block, index) => {
    if (block.language !== "console") return [];
    const policy = lesson.slice(0, index).findLast(({ language }) => language === "yaml");
    return [{ line: block.line, policy: policy?.text ?? "", ...consoleOf(block.text) }];
  });

  it("has a step for each of its commands", () => {
    expect(steps.length).toBe(7);
  });

  it.each(steps)("line $line says what acp says", async ({ policy, words, lines }) => {
    await using at = await scratch();
    await writeFile(join(at.path, "policy.yml"), policy);
    const { stdout, stderr } = await acp(words, { cwd: at.path, env: { HOME: "/home/ada" } });
    const said = `${stdout}${stderr}`.replaceAll(at.path, "…").split("\n");
    expect(said.slice(0, lines.length)).toEqual(lines);
  });
});

describe("docs/tutorials/mcp-client.md", () => {
  /**
   * Runs the client of the lesson in its folder, with the home of the lesson made by its own
   * command.
   */
  async function follow(path: string): Promise<{
    readonly run: () => Promise<string>;
    readonly home: string;
    readonly written: string;
  }> {
    const page = await read("mcp-client");
    const program = /```js\n(\/\/ client\.mjs\n[^]*?)```/.exec(page)?.[1] ?? "";
    const [, words = ""] = /^acp (init .*)$/m.exec(page) ?? [];
    await symlink(
      fileURLToPath(new URL("../node_modules", import.meta.url)),
      join(path, "node_modules"),
    );
    await writeFile(join(path, "client.mjs"), program);
    await mkdir(join(path, "demo"));
    await writeFile(join(path, "demo/notes.txt"), "");
    expect((await acp(words.split(" "), { cwd: path, env: { HOME: path } })).code).toBe(0);
    const server = join(
      dirname(require.resolve("@modelcontextprotocol/server-filesystem/package.json")),
      "dist/index.js",
    );
    const run = async (): Promise<string> => {
      const env = { PATH: process.env["PATH"], HOME: path, ACP: BIN, ...RESIDENT };
      const child = spawn(
        process.execPath,
        ["client.mjs", join(path, "demo"), process.execPath, server],
        { cwd: path, env },
      );
      let said = "";
      child.stdout.on("data", (chunk) => (said += String(chunk)));
      await new Promise((resolve) => child.on("close", resolve));
      await acp(["resident", "stop", "--home", join(path, "acp-home")]);
      return said;
    };
    return { run, home: join(path, "acp-home"), written: join(path, "demo/hello.txt") };
  }

  it("gets a no where nobody is there to ask", async () => {
    await using at = await scratch();
    const { run, written } = await follow(at.path);
    expect(await run()).toMatch(/^list_directory: yes\n\[FILE\] notes\.txt\n\nwrite_file: no\n/);
    await expect(readFile(written)).rejects.toThrow("ENOENT");
  });

  it.each([
    ["approved", "write_file: yes"],
    ["denied", "write_file: no"],
  ] as const)("gets the answer of a person: %s", async (decision, said) => {
    await using at = await scratch();
    const { run, home, written } = await follow(at.path);
    await mkdir(join(home, "run"), { recursive: true, mode: 0o700 });
    expect(await answering(home, { decision }, run)).toContain(said);
    const content = await readFile(written, "utf8").catch(() => "nothing");
    expect(content).toBe(decision === "approved" ? "Hello from an agent\n" : "nothing");
  });
});
