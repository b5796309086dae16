import { spawn } from "node:child_process";
import { cp, mkdtemp, readFile, readdir, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { LANGUAGES } from "./languages.js";
import { STEPS } from "./steps.js";

const FOLDER = fileURLToPath(new URL(".", import.meta.url));

interface Scratch extends AsyncDisposable {
  readonly path: string;
}

async function scratch(): Promise<Scratch> {
  const path = await mkdtemp(join(tmpdir(), "acp-"));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}

interface Ended {
  readonly code: number | null;
  readonly said: string;
}

/**
 * The demo of a folder, with a temporary directory of its own, so that what it leaves behind is
 * seen.
 */
async function runDemo(folder: string, env: Readonly<Record<string, string>>): Promise<Ended> {
  const child = spawn(process.execPath, [join(folder, "demo.mjs")], {
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...process.env, ...env },
  });
  const code = new Promise<number | null>((resolve) => child.on("close", resolve));
  return { said: await text(child.stdout), code: await code };
}

const linesOf = (said: string, name: string): readonly string[] =>
  said.split("\n").filter((line) => line.startsWith(name));
const methodsOf = (said: string, name: string): readonly string[] =>
  linesOf(said, name).map((line) => line.slice(8, 15).trim());
const leftIn = async (path: string): Promise<readonly string[]> =>
  (await readdir(path)).filter((name) => name.startsWith("acp-http-demo-"));
const METHODS = STEPS.map(({ method }) => method);

describe("the demo of the HTTP proxy", () => {
  it("ends as it has to in every language that is here, and leaves nothing behind", async () => {
    await using temporary = await scratch();
    const { code, said } = await runDemo(FOLDER, { TMPDIR: temporary.path });
    expect(said).not.toContain("WRONG");
    for (const { name, missing } of LANGUAGES) {
      if (missing === undefined) expect(methodsOf(said, name)).toEqual(METHODS);
      else expect(linesOf(said, name)).toEqual([expect.stringContaining(missing)]);
    }
    expect(said).toContain("the chain is whole");
    expect(code).toBe(0);
    expect(await leftIn(temporary.path)).toEqual([]);
  });

  it("leaves out a language that is not here, and says so", async () => {
    await using temporary = await scratch();
    // Nothing is found in an empty directory; Node is started by its own path.
    const { code, said } = await runDemo(FOLDER, { TMPDIR: temporary.path, PATH: temporary.path });
    expect(linesOf(said, "curl")).toEqual(["curl    left out: there is no curl here"]);
    expect(linesOf(said, "python")).toEqual(["python  left out: there is no python3 here"]);
    expect(methodsOf(said, "node")).toEqual(METHODS);
    expect(code).toBe(0);
  });

  it("fails when the policy lets everything through", async () => {
    await using copy = await scratch();
    for (const name of await readdir(FOLDER))
      if (name !== "node_modules") await cp(join(FOLDER, name), join(copy.path, name));
    await symlink(join(FOLDER, "node_modules"), join(copy.path, "node_modules"));
    const policy = await readFile(join(FOLDER, "policy.yml"), "utf8");
    await writeFile(
      join(copy.path, "policy.yml"),
      policy.replace("default_action: deny", "default_action: allow"),
    );
    const { code, said } = await runDemo(copy.path, { TMPDIR: copy.path });
    expect(said).toContain("WRONG   1 requests reached the shop");
    expect(said).toContain("demo    FAILED");
    expect(code).toBe(1);
    expect(await leftIn(copy.path)).toEqual([]);
  });
});
