/**
 * What a person sees and types, in a real pseudo-terminal.
 */
import { mkdir, readFile, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { BIN, acp, scratch } from "./harness.js";
import { fileServer, startGated } from "./mcp-client.js";
import { openPane, words } from "./pane.js";

async function world(): Promise<
  { readonly home: string; readonly folder: string } & AsyncDisposable
> {
  const at = await scratch();
  const [home, folder] = [join(at.path, "h"), join(at.path, "files")];
  await mkdir(folder);
  await mkdir(home, { mode: 0o700 });
  return {
    home,
    folder,
    async [Symbol.asyncDispose]() {
      await acp(["resident", "stop", "--home", home]);
      await at[Symbol.asyncDispose]();
    },
  };
}

describe("acp approve at a terminal", () => {
  it("joins a gate that starts later, shows the whole question, takes the answer, and ends with Ctrl-C", async () => {
    await using at = await world();
    await using pane = await openPane(
      words(process.execPath, BIN, "approve", "--home", at.home),
      at.folder,
    );
    await pane.until(/No gate is running yet/);
    await using gated = await startGated(at);
    // A call before the approver has joined is denied; it joins within a second.
    for (;;) {
      const answer = gated.call("write_file", { path: "b.txt", content: "as asked" });
      const isOver = await Promise.race([
        answer.then(() => true),
        pane.until(/write_file[\s\S]*\n>/).then(() => false),
      ]);
      if (!isOver) {
        await pane.answer("a");
        expect(await answer).toMatchObject({ isError: false });
        break;
      }
    }
    expect(await readdir(at.folder)).toEqual(["b.txt"]);
    expect(await pane.until(/→ approved/)).toContain('"content": "as asked"');
    await pane.press("C-c");
    await pane.until(/exit 0/);
  });
});

describe("acp mcp --tty", () => {
  const write = (id: number, path: string): string =>
    message(id, "tools/call", { name: "write_file", arguments: { path, content: "x" } });
  const message = (id: number, method: string, params: unknown): string =>
    JSON.stringify({ jsonrpc: "2.0", id, method, params });

  it.each([
    [["--tty"], /an agent asks for consent[\s\S]*\n>/, "a", ["b.txt", "c.txt"]],
    [["--tty", "--alone"], /an agent asks for consent[\s\S]*\n>/, "a", ["b.txt", "c.txt"]],
    [[], /exit \d/, undefined, []],
  ])(
    "with %j asks on the controlling terminal only if told to",
    async (options, seen, key, files) => {
      await using at = await world();
      const lines = [
        message(1, "initialize", {
          protocolVersion: "2025-06-18",
          capabilities: {},
          clientInfo: { name: "raw", version: "1" },
        }),
        JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" }),
        write(2, join(at.folder, "b.txt")),
      ];
      await writeFile(join(at.home, "in.jsonl"), `${lines.join("\n")}\n`);
      await writeFile(join(at.home, "more.jsonl"), `${write(3, join(at.folder, "c.txt"))}\n`);
      const command = words(
        process.execPath,
        BIN,
        "mcp",
        "--home",
        at.home,
        ...options,
        "--",
        ...fileServer(at.folder),
      );
      // The client's side stays open until the answer to the call is there. Not in the home: a
      // server that starts there would have every plain word read as a file of it.
      const [given, got] = [join(at.home, "in.jsonl"), join(at.home, "out.jsonl")];
      const until = (id: number): string =>
        `until grep -q '"id":${id}' '${got}'; do sleep 0.1; done`;
      // The terminal is let go of in between, and has the next question nonetheless.
      const more = key === undefined ? "" : `; cat '${at.home}/more.jsonl'; ${until(3)}`;
      const feed = `(cat '${given}'; ${until(2)}${more}) | ${command} > '${got}' 2> '${at.home}/err.txt'`;
      await using pane = await openPane(`cd /; touch '${got}'; ${feed}`, at.folder);
      const screen = await pane.until(seen);
      if (key === undefined) expect(screen).not.toContain("an agent asks");
      else {
        await pane.answer(key);
        await pane.until(/c\.txt[\s\S]*\n>/);
        await pane.answer(key);
        await pane.until(/exit 0/);
      }
      expect(await readdir(at.folder)).toEqual(files);
    },
  );
});

describe("hidden prompts", () => {
  it("init asks for a passphrase twice, vault set for it and for the value, and the terminal shows neither", async () => {
    await using at = await scratch();
    const home = join(at.path, "h");
    const command = (...args: readonly string[]): string =>
      words(process.execPath, BIN, ...args, "--home", home);
    await using pane = await openPane(
      `${command("init")} && ${command("vault", "set", "TOKEN", "--server", "files")}`,
      at.path,
    );
    await pane.until(/New passphrase .*: $/m);
    await pane.type("correct horse battery");
    await pane.until(/Repeat the passphrase: $/m);
    await pane.type("correct horse battery");
    await pane.until(/Passphrase of the private key: $/m);
    await pane.type("correct horse battery");
    await pane.until(/Value of TOKEN: $/m);
    await pane.type("tok-0123456789abcdef");
    const screen = await pane.until(/exit 0/);
    expect(screen).toContain("set TOKEN: may go to server files");
    expect(screen).not.toMatch(/correct horse|tok-0123/);
  });

  it("config encrypt asks for a value that is not there, and not for one that is; the terminal shows neither", async () => {
    await using at = await scratch();
    const home = join(at.path, "h");
    const command = (...args: readonly string[]): string =>
      words(process.execPath, BIN, ...args, "--home", home);
    const encrypt = command("config", "encrypt", "telegram.bot_token", "--key-file", "k");
    const plain = `printf '%s' 'telegram: { bot_token: "123:plain-abc", chat_id: "1" }' > '${home}/config.yml'`;
    await writeFile(
      join(at.path, "run.sh"),
      [command("init", "--key-file", "k"), encrypt, plain, encrypt, "true"].join(" && "),
    );
    await using pane = await openPane("sh ./run.sh", at.path);
    await pane.until(/Value of telegram\.bot_token: $/m);
    await pane.type("123:typed-abc");
    const screen = await pane.until(/exit 0/);
    expect(screen).toMatch(/set telegram\.bot_token in[\s\S]*encrypted telegram\.bot_token in/);
    expect(screen).not.toMatch(/typed-abc|plain-abc/);
    expect(await readFile(join(home, "config.yml"), "utf8")).toMatch(
      /^telegram: \{ bot_token: "encrypted:[\w-]+", chat_id: "1" \}$/,
    );
  });

  it("a passphrase that is typed differently makes no keys, and Ctrl-C stops the prompt", async () => {
    await using at = await scratch();
    const home = join(at.path, "h");
    await using pane = await openPane(
      words(process.execPath, BIN, "init", "--home", home),
      at.path,
    );
    await pane.until(/New passphrase/);
    await pane.type("correct horse battery");
    await pane.until(/Repeat the passphrase/);
    await pane.type("another horse");
    await pane.until(/the two entries differ[\s\S]*exit 2/);
    expect(await readdir(join(home, "keys"))).not.toContain("private.key");
    await using second = await openPane(
      words(process.execPath, BIN, "init", "--home", home),
      at.path,
    );
    await second.until(/New passphrase/);
    await second.press("C-c");
    await second.until(/the prompt was stopped[\s\S]*exit 1/);
  });
});
