import { chmod, readFile, rename, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { KeyPair } from "@acp/core/proof";
import { describe, expect, it } from "vitest";
import { scratchDirectory } from "../test/support.js";
import { encryptConfigField, readConfigField } from "./config-encrypt.js";
import { findEncryptedFields, openConfigField } from "./encrypted-field.js";
import { type Home, initHome } from "./home.js";
import { initKeys, rotateKeys } from "./keys.js";
import { makeKeyFile, type Unlock } from "./private-key.js";

const TOKEN = "telegram.bot_token";
const VARIABLE = "proxy.upstream_servers[0].env.KEY";
const unlock: Unlock = { kind: "key-file", text: makeKeyFile() };

interface Made {
  readonly home: Home;
  readonly keys: KeyPair;
  readonly text: () => Promise<string>;
}

async function makeHome(config: string): Promise<Made> {
  const { home } = await initHome(join(await scratchDirectory(), "h"));
  const { keys } = await initKeys(home, unlock);
  await writeFile(home.configPath, config, { mode: 0o600 });
  return { home, keys, text: () => readFile(home.configPath, "utf8") };
}

const opened = async ({ keys, text }: Made, field: string): Promise<string> =>
  openConfigField(findEncryptedFields(await text()).get(field) ?? "missing", field, keys);

describe("encryptConfigField()", () => {
  it("encrypts the value that stands there, keeps every other character, and makes the file private", async () => {
    const made = await makeHome("# a\ntelegram: # b\n  bot_token: 123:abc # c\n  chat_id: '1'\n");
    await chmod(made.home.configPath, 0o644);
    expect(await readConfigField(made.home, TOKEN)).toBe("plain");
    expect(await encryptConfigField(made.home, made.keys, { field: TOKEN, value: undefined })).toBe(
      "sealed",
    );
    expect(await opened(made, TOKEN)).toBe("123:abc");
    const text = await made.text();
    expect(text.replace(/"encrypted:[\w-]+"/, "*")).toBe(
      "# a\ntelegram: # b\n  bot_token: * # c\n  chat_id: '1'\n",
    );
    expect((await stat(made.home.configPath)).mode & 0o777).toBe(0o600);
    expect(await readConfigField(made.home, TOKEN)).toBe("encrypted");
    expect(await encryptConfigField(made.home, made.keys, { field: TOKEN, value: undefined })).toBe(
      "kept",
    );
    expect(await made.text()).toBe(text);
  });

  it("puts a value that is given in place of a plain one, of an encrypted one and of none", async () => {
    const made = await makeHome("proxy:\n  upstream_servers:\n    - { name: a, command: x }\n");
    for (const value of ["first", "second"]) {
      expect(await encryptConfigField(made.home, made.keys, { field: VARIABLE, value })).toBe(
        "set",
      );
      expect(await opened(made, VARIABLE)).toBe(value);
    }
    expect(await readConfigField(made.home, TOKEN)).toBe("missing");
    await encryptConfigField(made.home, made.keys, { field: TOKEN, value: "ümläut €" });
    expect(await opened(made, TOKEN)).toBe("ümläut €");
    expect(await opened(made, VARIABLE)).toBe("second");
    await writeFile(made.home.configPath, "telegram: { bot_token: plain }\n");
    await encryptConfigField(made.home, made.keys, { field: TOKEN, value: "given" });
    expect(await opened(made, TOKEN)).toBe("given");
  });

  it.each<[string, string, string, string | undefined, string, string]>([
    [
      "a field that holds no secret",
      "channel: prompt\n",
      "telegram.chat_id",
      "x",
      "options_invalid",
      "does not hold a secret",
    ],
    [
      "a server that is not there",
      "proxy: { upstream_servers: [{ name: a }] }\n",
      VARIABLE.replace("0", "1"),
      "x",
      "options_invalid",
      "1 server",
    ],
    [
      "a server where there is none",
      "channel: prompt\n",
      VARIABLE,
      "x",
      "options_invalid",
      "no servers",
    ],
    [
      "no value at all",
      "telegram: { bot_token: '' }\n",
      TOKEN,
      undefined,
      "options_invalid",
      "there is no value",
    ],
    ["an empty value", "channel: prompt\n", TOKEN, "", "options_invalid", "there is no value"],
    [
      "a value with a NUL",
      "channel: prompt\n",
      TOKEN,
      "hunter2\0",
      "options_invalid",
      "NUL character",
    ],
    [
      "a value without end",
      "channel: prompt\n",
      TOKEN,
      "hunter2".repeat(20_000),
      "options_invalid",
      "more than 131072",
    ],
    [
      "half a character",
      "channel: prompt\n",
      TOKEN,
      "hunter2\ud800",
      "options_invalid",
      "surrogate",
    ],
    [
      "a value that is encrypted",
      "channel: prompt\n",
      TOKEN,
      "encrypted:hunter2",
      "options_invalid",
      "encrypted already",
    ],
    [
      "one that does not open",
      "telegram: { bot_token: encrypted:hunter2 }\n",
      TOKEN,
      undefined,
      "vault_invalid",
      "not the one it was encrypted with",
    ],
    [
      "a number in the place",
      "telegram: { bot_token: 17 }\n",
      TOKEN,
      "hunter2",
      "config_invalid",
      "not a string",
    ],
    ["a file that does not load", "telegram: [hunter2\n", TOKEN, "x", "config_invalid", "line"],
  ])(
    "refuses %s, and leaves the file as it is",
    async (_name, config, field, value, code, text) => {
      const made = await makeHome(config);
      const error: unknown = await Promise.resolve()
        .then(() => encryptConfigField(made.home, made.keys, { field, value }))
        .catch((caught: unknown) => caught);
      expect(error).toMatchObject({ code, message: expect.stringContaining(text) });
      expect(String(error)).not.toContain("hunter2");
      expect(await made.text()).toBe(config);
    },
  );

  it("refuses a key that was rotated meanwhile, and a file that is linked to", async () => {
    const made = await makeHome("telegram: { bot_token: plain }\n");
    const { keys } = await rotateKeys(made.home, unlock);
    await expect(
      encryptConfigField(made.home, made.keys, { field: TOKEN, value: undefined }),
    ).rejects.toMatchObject({
      code: "home_invalid",
      message: expect.stringContaining("rotated meanwhile"),
    });
    await rename(made.home.configPath, join(made.home.dir, "elsewhere.yml"));
    await symlink("elsewhere.yml", made.home.configPath);
    await expect(
      encryptConfigField(made.home, keys, { field: TOKEN, value: undefined }),
    ).rejects.toMatchObject({
      code: "home_invalid",
      message: expect.stringContaining("symbolic link"),
    });
  });

  it("lets several write at once, one after the other", async () => {
    const made = await makeHome("proxy: { upstream_servers: [{ name: a, command: x }] }\n");
    const names = ["A", "B", "C", "D"];
    const fieldOf = (name: string): string => VARIABLE.replace("KEY", name);
    await Promise.all(
      names.map((name) =>
        encryptConfigField(made.home, made.keys, {
          field: fieldOf(name),
          value: `value of ${name}`,
        }),
      ),
    );
    for (const name of names) expect(await opened(made, fieldOf(name))).toBe(`value of ${name}`);
  });
});
