import { chmod, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { ensureToken, openCredentials, readTokens } from "./tokens.js";

async function place(): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), "acp-"));
  onTestFinished(() => rm(dir, { recursive: true }));
  return join(dir, "mcp-tokens");
}
const put = (path: string, text: string): Promise<void> => writeFile(path, text, { mode: 0o600 });
const ADA = "ada-0123456789abcdef";
const BOB = "bob-0123456789abcdef";

describe("ensureToken()", () => {
  it("makes a token once for each agent, in a file of its owner's alone", async () => {
    const path = await place();
    const one = await ensureToken(path, "ada");
    expect(one).toMatch(/^[\w-]{43}$/u);
    expect(await ensureToken(path, "ada")).toBe(one);
    const other = await ensureToken(path, "bob");
    expect(other).not.toBe(one);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect(await readTokens(path)).toEqual([
      { agent: "ada", token: one },
      { agent: "bob", token: other },
    ]);
  });

  it("keeps comments and lines that a person wrote, also without a last line feed", async () => {
    const path = await place();
    await put(path, `# mine\nada ${ADA} # laptop`);
    await ensureToken(path, "bob");
    expect(await readFile(path, "utf8")).toMatch(/^# mine\nada \S+ # laptop\nbob \S{43}\n$/u);
  });

  it.each(["", " ", "two words", "server:files", "ü"])("names no agent %j", async (agent) => {
    await expect(ensureToken(await place(), agent)).rejects.toMatchObject({
      code: "options_invalid",
    });
  });
});

describe("readTokens()", () => {
  it.each([
    ["a short token", "ada short"],
    ["no token", "ada"],
    ["a fourth word", `ada ${ADA} x.yml y`],
    ["one token of two agents", `ada ${ADA}\nbob ${ADA}`],
    ["a server's name", `server:files ${ADA}`],
  ])("refuses %s, and shows no token", async (_, text) => {
    const path = await place();
    await put(path, text);
    const error: unknown = await readTokens(path).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(Error);
    expect(String(error)).not.toContain(ADA);
  });

  it("refuses a file that others may read", async () => {
    const path = await place();
    await put(path, `ada ${ADA}`);
    await chmod(path, 0o644);
    await expect(readTokens(path)).rejects.toMatchObject({ code: "home_invalid" });
  });
});

describe("openCredentials()", () => {
  const open = async (path: string, env: Readonly<Record<string, string>> = {}) => {
    const logs: string[] = [];
    const log = (line: string): void => void logs.push(line);
    return { logs, credentials: await openCredentials(path, { agent: "main", env, log }) };
  };

  it("finds who has a token, and nobody for any other text", async () => {
    const path = await place();
    await put(path, `ada ${ADA}\nbob ${BOB}\n`);
    const { credentials } = await open(path);
    expect(await credentials.find(ADA)).toMatchObject({ agent: { id: "ada" } });
    expect(await credentials.find(BOB)).toMatchObject({ agent: { id: "bob" } });
    for (const token of [undefined, "", "ada", ADA.slice(1), `${ADA}x`])
      expect(await credentials.find(token)).toBeUndefined();
    const key = (await credentials.find(ADA))?.key ?? "";
    expect(key).not.toContain(ADA);
    expect([credentials.holds(key), credentials.holds("other")]).toEqual([true, false]);
  });

  it("knows at the next request who was added, and who was taken out", async () => {
    const path = await place();
    await put(path, `ada ${ADA}\n`);
    const { credentials } = await open(path);
    const key = (await credentials.find(ADA))?.key ?? "";
    await put(path, `bob ${BOB}\n`);
    expect(await credentials.find(ADA)).toBeUndefined();
    expect(credentials.holds(key)).toBe(false);
    expect(await credentials.find(BOB)).toMatchObject({ agent: { id: "bob" } });
  });

  it("lets nobody in by a file that is broken, and says so", async () => {
    const path = await place();
    await put(path, `ada ${ADA}\n`);
    const { credentials, logs } = await open(path);
    await put(path, `ada ${ADA}\nbob short\n`);
    expect(await credentials.find(ADA)).toBeUndefined();
    expect(logs.join("\n")).toContain("line 2");
  });

  it("knows an agent's own policy, beside the file", async () => {
    const path = await place();
    await put(path, `ada ${ADA} own.yml\nbob ${BOB}\n`);
    const { credentials } = await open(path);
    const keyOf = async (token: string): Promise<string> =>
      (await credentials.find(token))?.key ?? "";
    expect(credentials.policyOf(await keyOf(ADA))?.path).toBe(join(dirname(path), "own.yml"));
    expect(credentials.policyOf(await keyOf(BOB))).toEqual({ path: undefined });
    expect(credentials.policyOf("nobody's")).toBeUndefined();
  });

  it("takes a token of the environment for the agent of this start", async () => {
    const { credentials } = await open(await place(), { ACP_MCP_TOKEN: ADA });
    expect(await credentials.find(ADA)).toMatchObject({ agent: { id: "main" } });
    await expect(open(await place(), { ACP_MCP_TOKEN: "short" })).rejects.toMatchObject({
      code: "options_invalid",
    });
  });
});
