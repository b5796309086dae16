/**
 * `acp config encrypt`, and what it wrote at work: as child processes, with a real gate and a real
 * server.
 */
import { mkdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { EXIT_CODES } from "../src/exit-codes.js";
import { acpHere } from "./acp-here.js";
import { scratch } from "./environment.js";
import type { AcpOptions, Ended, Scratch } from "./harness.js";
import { fileServer, startGated } from "./mcp-client.js";

const TOKEN = "telegram.bot_token";
const VARIABLE = "proxy.upstream_servers[0].env.KEY";
const SECRET = "123:abc-secret";

interface World extends Scratch {
  readonly home: string;
  readonly folder: string;
  readonly config: string;
  text(): Promise<string>;
  run(args: readonly string[], options?: AcpOptions): Promise<Ended>;
}

async function world(text?: string): Promise<World> {
  const at = await scratch();
  const [home, folder] = [join(at.path, "h"), join(at.path, "files")];
  await mkdir(folder);
  const config = join(home, "config.yml");
  const run = (args: readonly string[], options: AcpOptions = {}): Promise<Ended> =>
    acpHere(args, { home, cwd: at.path, ...options });
  expect(await run(["init"])).toMatchObject({ code: 0 });
  if (text !== undefined) await writeFile(config, text, { mode: 0o600 });
  return { ...at, home, folder, config, text: () => readFile(config, "utf8"), run };
}

describe("acp config encrypt", () => {
  it("encrypts the value that stands there, and keeps comments and every other line", async () => {
    const text = `# mine\nversion: "1"\ntelegram:\n  bot_token: ${SECRET} # of the bot\n  chat_id: "17"\n`;
    await using at = await world(text);
    const ended = await at.run(["config", "encrypt", TOKEN]);
    expect(ended).toEqual({
      code: 0,
      signal: null,
      stdout: `encrypted ${TOKEN} in ${at.config}\n`,
      stderr: "",
    });
    expect((await at.text()).replace(/"encrypted:[\w-]+"/, SECRET)).toBe(text);
    expect(await at.text()).not.toContain(SECRET);
    const again = await at.run(["config", "encrypt", TOKEN, "--json"]);
    expect(JSON.parse(again.stdout)).toEqual({ field: TOKEN, change: "kept", file: at.config });
  });

  it("takes a value from standard input, says what the file lacks still, and shows the value nowhere", async () => {
    await using at = await world();
    const template = await at.text();
    const { code, stdout, stderr } = await at.run(["config", "encrypt", TOKEN, "--json"], {
      input: `${SECRET}\n`,
    });
    expect([code, JSON.parse(stdout).change]).toEqual([0, "set"]);
    expect(JSON.parse(stderr).notice).toMatch(
      /^The file does not load yet: .*"chat_id" is missing/,
    );
    const section = /(?<=\n)telegram:\n {2}bot_token: "encrypted:[\w-]+"\n/;
    expect(await at.text()).toMatch(section);
    expect((await at.text()).replace(section, "")).toBe(template);
    expect((await stat(at.config)).mode & 0o777).toBe(0o600);
    expect(stdout + stderr + (await at.text())).not.toContain(SECRET);
  });

  it.each([
    [
      ["config", "encrypt"],
      "",
      EXIT_CODES.usage.code,
      /name it, such as acp config encrypt telegram\.bot_token .*\[options_invalid\]/,
    ],
    [
      ["config", "encrypt", "telegram.bot_tokn"],
      SECRET,
      EXIT_CODES.usage.code,
      /did you mean telegram\.bot_token\? \[options_invalid\]/,
    ],
    [
      ["config", "encrypt", "telegram.chat_id"],
      SECRET,
      EXIT_CODES.usage.code,
      /it does not hold a secret/,
    ],
    [["config", "encrypt", VARIABLE], SECRET, EXIT_CODES.usage.code, /the file has no servers/],
    [["config", "encrypt", TOKEN], "", EXIT_CODES.usage.code, /there is no value/],
    [["config", "encrypt", TOKEN, SECRET], "", EXIT_CODES.usage.code, /takes only one operand/],
    [
      ["config", "encrypt", TOKEN, "--key-file", "none"],
      SECRET,
      EXIT_CODES.invalid.code,
      /\[home_invalid\]/,
    ],
  ])(
    "%j is refused in one line, and the file is as it was",
    async (args, input, expected, message) => {
      await using at = await world();
      const before = await at.text();
      const { code, stdout, stderr } = await at.run(args, { input });
      expect([code, stdout, stderr]).toEqual([expected, "", expect.stringMatching(message)]);
      expect(stderr.trimEnd()).not.toContain("\n");
      if (input !== "") expect(stderr).not.toContain(input);
      expect(await at.text()).toBe(before);
    },
  );

  it("says that keys have to be made first", async () => {
    await using at = await scratch();
    const home = join(at.path, "h");
    await mkdir(home, { mode: 0o700 });
    await writeFile(join(home, "config.yml"), "telegram: { bot_token: plain, chat_id: '1' }\n", {
      mode: 0o600,
    });
    const { code, stderr } = await acpHere(["config", "encrypt", TOKEN], { home });
    expect([code, stderr]).toEqual([
      EXIT_CODES.invalid.code,
      `acp: Cannot encrypt "${TOKEN}": this home has no keys yet; make them with acp init [home_invalid]\n`,
    ]);
  });
});

describe("acp mcp with encrypted fields", () => {
  const serverYaml = (folder: string): string =>
    `version: "1"\nproxy:\n  upstream_servers:\n    - name: files\n      command: ${JSON.stringify(fileServer(folder).join(" "))}\n      env:\n        MODE: plain\n`;

  const environmentOf = async (pid: number): Promise<readonly string[]> => {
    const [server = ""] = (await readFile(`/proc/${pid}/task/${pid}/children`, "utf8"))
      .trim()
      .split(" ");
    return (await readFile(`/proc/${server}/environ`, "utf8")).split("\0");
  };

  it("hands a server its variable opened, also after the keys were rotated", async () => {
    await using at = await world();
    await writeFile(at.config, serverYaml(at.folder), { mode: 0o600 });
    expect(await at.run(["config", "encrypt", VARIABLE], { input: SECRET })).toMatchObject({
      code: 0,
      stderr: "",
    });
    const sealed = await at.text();
    for (const rotate of [false, true]) {
      if (rotate) expect(await at.run(["keys", "rotate"])).toMatchObject({ code: 0 });
      await using gated = await startGated({ ...at, server: [] });
      expect(await environmentOf(gated.pid)).toEqual(
        expect.arrayContaining([`KEY=${SECRET}`, "MODE=plain"]),
      );
    }
    expect(await at.text()).not.toBe(sealed);
    expect((await at.text()).replace(/encrypted:[\w-]+/, "")).toBe(
      sealed.replace(/encrypted:[\w-]+/, ""),
    );
  });

  it("does not start where a field does not open, and names it", async () => {
    await using at = await world();
    await writeFile(at.config, serverYaml(at.folder), { mode: 0o600 });
    await at.run(["config", "encrypt", VARIABLE], { input: SECRET });
    await writeFile(at.config, (await at.text()).replace("KEY:", "OTHER:"), { mode: 0o600 });
    const { code, stderr } = await at.run(["mcp"]);
    expect([code, stderr]).toEqual([
      EXIT_CODES.invalid.code,
      expect.stringMatching(
        /^acp: .*config\.yml: Cannot open the encrypted field "proxy\.upstream_servers\[0\]\.env\.OTHER": .*\[vault_invalid\]\n$/,
      ),
    ]);
    await using bare = await scratch();
    const home = join(bare.path, "h");
    await mkdir(home, { mode: 0o700 });
    await writeFile(join(home, "config.yml"), await at.text(), { mode: 0o600 });
    expect(await acpHere(["mcp"], { home })).toMatchObject({
      code: EXIT_CODES.invalid.code,
      stderr: expect.stringMatching(/this home has no keys; run: acp init \[key_locked\]\n$/),
    });
  });
});
