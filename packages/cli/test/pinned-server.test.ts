/**
 * Servers that are pinned to packages: a real npm in a real sandbox, before a registry on loopback.
 * What is hostile here is hostile in the registry.
 */
import { spawn } from "node:child_process";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { describeChanges } from "../src/servers/tree-change.js";
import { pinnedWorld, tool } from "./pinned-world.js";
import { installedTree } from "./registry-double.js";
import { needSandbox } from "./run-world.js";

const NAMESPACE = needSandbox("namespace");
const LIB = { manifest: { name: "lib", version: "1.2.0" } };
const needsLib = { dependencies: { lib: "^1.0.0" } };

describe.skipIf(!NAMESPACE.run)(`pinnedServer() ${NAMESPACE.reason}`, () => {
  it("pins a package and what it needs at first sight, and needs no registry afterwards", async () => {
    const world = await pinnedWorld(tool("1.0.0", needsLib), LIB);
    const first = await world.pin("npx -y tool a b");
    expect(world.output(first)).toBe("tool 1.0.0 a b");
    expect(first.argv[1]).toBe(join(first.packages, "node_modules/tool/cli.js"));
    await world.registry.close();
    expect(await world.pin("npx -y tool a b")).toEqual(first);
    expect(world.asked).toEqual([]);
  });

  it("starts a real server of node_modules with everything it needs", async () => {
    const world = await pinnedWorld();
    const directory = dirname(
      fileURLToPath(import.meta.resolve("@modelcontextprotocol/server-filesystem/package.json")),
    );
    world.registry.publishDirectories(installedTree(directory));
    const { argv } = await world.pin(
      `npx -y @modelcontextprotocol/server-filesystem ${world.userHome}`,
    );
    const [program = "", ...args] = argv;
    const server = spawn(program, args, { stdio: ["pipe", "pipe", "ignore"], env: {} });
    onTestFinished(() => void server.kill());
    const hello = {
      protocolVersion: "2025-06-18",
      capabilities: {},
      clientInfo: { name: "test", version: "1" },
    };
    server.stdin.write(
      `${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params: hello })}\n`,
    );
    const answers = createInterface({ input: server.stdout })[Symbol.asyncIterator]();
    const { value } = await answers.next();
    expect(value).toContain(`"serverInfo"`);
  });

  it("stays at what was pinned, whatever is published", async () => {
    const world = await pinnedWorld(tool("1.0.0"));
    await world.pin("npx -y tool");
    world.registry.publish(tool("2.0.0"));
    expect(world.output(await world.pin("npx -y tool"))).toBe("tool 1.0.0");
    expect(world.asked).toEqual([]);
  });

  it("asks where the configuration names another version, and starts nothing without a yes", async () => {
    const world = await pinnedWorld(
      tool("1.0.0", needsLib),
      LIB,
      tool("2.0.0", { scripts: { postinstall: "true" } }),
    );
    await world.pin("npx tool@1");
    const before = await world.kept();
    await expect(world.pin("npx tool@2")).rejects.toThrow(
      "nobody agreed to the change; ask a person to run: acp servers update files",
    );
    expect(await world.kept()).toEqual(before);
    expect(world.asked.map(({ changes }) => describeChanges(changes))).toEqual([
      ["removed lib 1.2.0", "changed tool 1.0.0 → 2.0.0, runs a program when it is installed"],
    ]);
    world.answer = true;
    expect(world.output(await world.pin("npx tool@2"))).toBe("tool 2.0.0");
    // What runs from the one before goes on; what is older is gone after the next.
    expect((await world.kept()).filter((name) => name.startsWith("tree-"))).toHaveLength(2);
    await world.pin("npx tool@1");
    await world.pin("npx tool@2");
    expect((await world.kept()).filter((name) => name.startsWith("tree-"))).toHaveLength(2);
    expect(world.asked.at(-1)?.lockfile).toMatch(/^sha256:/u);
  });

  it("does not ask where another name leads to the same packages", async () => {
    const world = await pinnedWorld(tool("1.0.0"));
    await world.pin("npx tool@latest");
    expect(world.output(await world.pin("npx tool@1.0.0"))).toBe("tool 1.0.0");
    expect(world.asked).toEqual([]);
  });

  it("installs what was pinned again where it is damaged, and refuses other bytes under the same version", async () => {
    const world = await pinnedWorld(tool("1.0.0", needsLib), LIB);
    const { packages } = await world.pin("npx tool");
    world.registry.publish(tool("2.0.0"));
    rmSync(join(packages, "node_modules/lib"), { recursive: true });
    const again = await world.pin("npx tool");
    expect(again.packages).not.toBe(packages);
    expect([
      world.output(again),
      existsSync(join(again.packages, "node_modules/lib")),
      world.asked,
    ]).toEqual(["tool 1.0.0", true, []]);
    writeFileSync(join(again.packages, "node_modules/.package-lock.json"), "{}");
    world.registry.publish({
      manifest: { name: "lib", version: "1.2.0", description: "another one" },
    });
    await expect(world.pin("npx tool")).rejects.toThrow("EINTEGRITY");
    expect((await world.kept()).filter((name) => name.startsWith("new-"))).toEqual([]);
  });

  it.each([
    [
      "an archive that is not the one of its sum",
      (world: World) => world.registry.tamper("lib", "1.2.0"),
      /EINTEGRITY/u,
    ],
    [
      "an archive at another host",
      (world: World) =>
        world.registry.lie(
          "lib",
          "1.2.0",
          (dist) => void (dist["tarball"] = "https://elsewhere.example/lib.tgz"),
        ),
      /comes from "elsewhere\.example:443"/u,
    ],
    [
      "an archive without a sum",
      (world: World) =>
        world.registry.lie(
          "lib",
          "1.2.0",
          (dist) => void (delete dist["integrity"], delete dist["shasum"]),
        ),
      /no sha512/u,
    ],
    [
      "only a weak sum",
      (world: World) => world.registry.lie("lib", "1.2.0", (dist) => void delete dist["integrity"]),
      /no sha512/u,
    ],
    [
      "a repository among what it needs",
      (world: World) =>
        world.registry.lie(
          "lib",
          "1.2.0",
          (_dist, manifest) =>
            void (manifest["dependencies"] = { x: "git+https://elsewhere.example/x.git" }),
        ),
      /Cannot (?:get|pin) the packages/u,
    ],
    [
      "an address among what it needs",
      (world: World) =>
        world.registry.lie(
          "lib",
          "1.2.0",
          (_dist, manifest) =>
            void (manifest["dependencies"] = { x: "https://elsewhere.example/x.tgz" }),
        ),
      /it asked for elsewhere\.example:443, which is not a registry/u,
    ],
    [
      "a directory among what it needs",
      (world: World) =>
        world.registry.lie(
          "lib",
          "1.2.0",
          (_dist, manifest) => void (manifest["dependencies"] = { x: "file:../../.." }),
        ),
      /Cannot (?:get|pin) the packages/u,
    ],
  ] as const)("refuses %s", async (_what, change, why) => {
    const world = await pinnedWorld(tool("1.0.0", needsLib), LIB);
    change(world);
    await expect(world.pin("npx tool")).rejects.toThrow(why);
    expect(
      (await world.kept().catch(() => [])).filter(
        (name) => name === "pin.json" || name.startsWith("new-"),
      ),
    ).toEqual([]);
  });

  it("runs programs of packages without network, secrets, files of anybody, or a way out of the tree", async () => {
    const outside = createServer((_request, response) => response.end("reached"));
    await new Promise<void>((resolve) => {
      outside.listen(0, "127.0.0.1", resolve);
    });
    onTestFinished(() => void outside.close());
    const { port } = outside.address() as AddressInfo;
    const world = await pinnedWorld();
    writeFileSync(join(world.userHome, "secret"), "private");
    const attempts = {
      home: `fs.readFileSync(${JSON.stringify(join(world.userHome, "secret"))}, "utf8")`,
      acp: `fs.readdirSync(${JSON.stringify(world.homeDir)}).join()`,
      checkout: `fs.readdirSync(${JSON.stringify(process.cwd())}).join()`,
      secret: `process.env.ACP_TEST_SECRET ?? fs.readFileSync("/proc/1/environ", "latin1")`,
      direct: `await (await fetch("http://127.0.0.1:${port}/")).text()`,
      registry: `await viaProxy("${world.registry.url}tool")`,
      elsewhere: `await viaProxy("http://127.0.0.1:${port}/")`,
    };
    const script = `
      const fs = require("fs");
      const http = require("http");
      const viaProxy = (path) => new Promise((resolve, reject) => {
        const { hostname, port } = new URL(/^proxy=(.*)$/m.exec(fs.readFileSync(process.env.HOME + "/.npmrc", "utf8"))[1]);
        http.get({ hostname, port, path, headers: { host: new URL(path).host } }, (response) => (response.statusCode === 200 ? resolve("reached") : reject({ code: response.statusCode }))).on("error", reject);
      });
      (async () => {
        const seen = {};
        ${Object.entries(attempts)
          .map(
            ([name, code]) =>
              `try { seen.${name} = String(${code}); } catch (error) { seen.${name} = "no: " + (error.cause ?? error).code; }`,
          )
          .join("\n")}
        fs.writeFileSync(process.env.HOME + "/outside", "x");
        fs.writeFileSync("seen.json", JSON.stringify(seen));
      })();`;
    world.registry.publish({
      ...tool("1.0.0", { scripts: { postinstall: "node look.js" } }),
      files: { ...tool("1.0.0").files, "look.js": script },
    });
    vi.stubEnv("ACP_TEST_SECRET", "private");
    const { packages } = await world.pin("npx tool").finally(() => vi.unstubAllEnvs());
    const seen = JSON.parse(
      readFileSync(join(packages, "node_modules/tool/seen.json"), "utf8"),
    ) as Record<string, string>;
    expect(Object.keys(seen)).toEqual(Object.keys(attempts));
    expect(Object.entries(seen).filter(([, found]) => !found.startsWith("no: "))).toEqual([]);
    expect(existsSync(join(packages, "outside"))).toBe(false);
  });

  it.each([
    [
      "puts a link that leads out in place of its program",
      `fs.rmSync("cli.js"); fs.symlinkSync("/etc/passwd", "cli.js")`,
      "leads out of them",
    ],
    [
      "changes what npm wrote down",
      `fs.writeFileSync("../.package-lock.json", "{}")`,
      "a package changed what npm had installed",
    ],
    ["fails", `process.exit(3)`, "npm says"],
    [
      "puts a program in its place that is a directory",
      `fs.rmSync("cli.js"); fs.mkdirSync("cli.js")`,
      "is not a file",
    ],
    [
      "takes another package away",
      `fs.rmSync("../lib", { recursive: true })`,
      "a package changed what npm had installed",
    ],
  ])("refuses a package that %s when it is installed", async (_what, code, why) => {
    const world = await pinnedWorld(LIB);
    const files = { ...tool("1.0.0").files, "break.js": `const fs = require("fs"); ${code};` };
    world.registry.publish({
      ...tool("1.0.0", { ...needsLib, scripts: { postinstall: "node break.js" } }),
      files,
    });
    await expect(world.pin("npx tool")).rejects.toThrow(why);
    expect(await world.kept()).toEqual([]);
  });

  it("refuses what would fill the disk", async () => {
    const world = await pinnedWorld();
    const fill = `const fs = require("fs"); const part = Buffer.alloc(1 << 26); for (;;) fs.appendFileSync("big", part);`;
    world.registry.publish({
      ...tool("1.0.0", { scripts: { postinstall: "node fill.js" } }),
      files: { "cli.js": "", "fill.js": fill },
    });
    await expect(world.pin("npx tool")).rejects.toThrow(/ENOSPC|npm says/u);
    expect(await world.kept()).toEqual([]);
  });

  it("lets two starts at once have one tree, and ends when it is told to", async () => {
    const world = await pinnedWorld(tool("1.0.0"));
    const [one, other] = await Promise.all([world.pin("npx tool"), world.pin("npx tool")]);
    expect(other).toEqual(one);
    const over = new AbortController();
    const say = (): void => over.abort(new Error("told to"));
    await expect(world.pin("npx tool@1", { signal: over.signal, say })).rejects.toThrow(
      /told to|aborted/u,
    );
  });

  it("says what it cannot pin, and what to do", async () => {
    const world = await pinnedWorld(tool("1.0.0"));
    await expect(world.pin("npx ./tool")).rejects.toThrow(
      `Cannot pin the packages of server "files": "./tool" is not the name of a package in a registry`,
    );
    await expect(world.pin("npx nothing-of-this-name")).rejects.toThrow(/E?404/u);
    await expect(world.pin("npx -p tool other")).rejects.toThrow(`"tool" has no program "other"`);
    await world.registry.close();
    await expect(world.pin("npx tool")).rejects.toThrow("Cannot get the packages of a server");
  });
});

type World = Awaited<ReturnType<typeof pinnedWorld>>;
