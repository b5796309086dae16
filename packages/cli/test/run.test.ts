/**
 * `acp run`: real programs in the sandbox `namespace`, the gate outside.
 */
import { access, readFile, symlink } from "node:fs/promises";
import { constants } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { EXIT_CODES } from "../src/exit-codes.js";
import { acpHere } from "./acp-here.js";
import type { AcpOptions } from "./environment.js";
import { answerNext } from "./http-world.js";
import { WAIT_FOR_GO, isolationsOf, needSandbox, runWorld } from "./run-world.js";
import type { RunWorld } from "./run-world.js";

const NAMESPACE = needSandbox("namespace");

const BAD = EXIT_CODES.not_run.code;

/** Prints one line a request: status and the first of its text. */
const FETCHER = `${WAIT_FOR_GO}for (const [method, url] of JSON.parse(process.argv[2])) {
  const answer = await fetch(url, { method, ...(method === "POST" && { body: "x=1" }) });
  const text = await answer.text();
  console.log(method, answer.status, /"code":"(\\w+)"/.exec(text)?.[1] ?? text.trim());
}
`;

/** Tries its own socket, and that of `acp approve`, whose path it finds in a file. */
const KNOCKER = `import { existsSync, readFileSync } from "node:fs";
import { connect, createServer } from "node:net";
const knock = (path) => new Promise((resolve) => connect(path, () => resolve("connected")).on("error", ({ code }) => resolve(code)));
while (!existsSync("where") || readFileSync("where", "utf8") === "") await new Promise((resolve) => setTimeout(resolve, 50));
await new Promise((resolve) => createServer().listen("/tmp/own.sock", resolve));
console.log("own socket:", await knock("/tmp/own.sock"));
console.log("approve socket:", await knock(readFileSync("where", "utf8")));
process.exit(0);
`;

describe.skipIf(!NAMESPACE.run)(`acp run in a namespace ${NAMESPACE.reason}`, () => {
  it("leads curl to the gate: what the policy allows goes on, the rest does not, and nothing goes around", async () => {
    await using world = await runWorld();
    const { origin } = world;
    expect(await world.run(["curl", "-sS", `${origin}/items`])).toMatchObject({
      code: 0,
      stdout: "reached: GET /items\n",
    });
    const denied = await world.run(["curl", "-sS", "-X", "DELETE", `${origin}/items`]);
    expect([denied.code, denied.stdout]).toEqual([0, expect.stringContaining("policy_denied")]);
    const around = await world.run(["curl", "-sS", "--noproxy", "*", `${origin}/around`]);
    // 7: it could not connect.
    expect([around.code, around.stdout]).toEqual([7, ""]);
    expect(world.reached).toEqual(["GET /items"]);
  });

  it("leads Node's fetch to the gate, and waits for a person where the policy asks", async () => {
    await using world = await runWorld();
    await world.write("agent.mjs", FETCHER);
    const requests = ["GET", "DELETE", "POST", "POST"].map((method) => [
      method,
      `${world.origin}/items`,
    ]);
    await using running = world.start(["node", "agent.mjs", JSON.stringify(requests)]);
    await using _silent = await world.attach(running);
    await answerNext(world.home, ["--approve"]);
    await answerNext(world.home, ["--deny", "--reason", "not on a Sunday"]);
    const { code, stdout, stderr } = await running.ended;
    expect(stdout.split("\n")).toEqual([
      "GET 200 reached: GET /items",
      "DELETE 403 policy_denied",
      "POST 200 reached: POST /items x=1",
      "POST 403 consent_denied",
      "",
    ]);
    expect(code).toBe(0);
    expect(stderr).toContain("acp approve");
    expect(world.reached).toEqual(["GET /items", "POST /items x=1"]);
  });

  it("writes into every event what holds the agent, and says so at the start", async () => {
    await using world = await runWorld();
    const { stderr } = await world.run(["curl", "-sS", `${world.origin}/items`], {
      args: ["--agent", "curl"],
    });
    expect(stderr).toContain('The agent runs in sandbox "namespace", level full');
    expect(stderr).not.toMatch(/No isolation|NO ISOLATION|same user/);
    const events = await world.events();
    expect(isolationsOf(events)).toEqual(["full:namespace"]);
    const kinds = events.filter(({ agent }) => agent === "curl").map(({ eventType }) => eventType);
    expect(kinds).toEqual(
      expect.arrayContaining(["gate_notice", "policy_evaluated", "tool_call_completed"]),
    );
    expect(events.map(({ metadata }) => metadata["notice"])).toContain("isolation");
  });

  it("shows nothing of our environment but what a terminal and a language need, and what is named", async () => {
    await using world = await runWorld();
    const env = {
      MY_SECRET: "s3cret-value",
      OPENAI_API_KEY: "k3y",
      LANG: "C.UTF-8",
      TZ: "UTC",
      ACP_PASSPHRASE_FILE: "/nowhere/passphrase",
    };
    const { stdout, code } = await world.run(["env"], { env, args: ["--env", "OPENAI_API_KEY"] });
    const names = stdout
      .trim()
      .split("\n")
      .map((line) => line.split("=")[0] ?? "");
    const ours = ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"].flatMap((name) => [
      name,
      name.toLowerCase(),
    ]);
    const fixed = ["ACP_PROXY_PORT", "ACP_SANDBOX", "HOME", "NODE_OPTIONS", "PATH"];
    // A shell that starts another program sets these three by itself.
    const made = ["PWD", "OLDPWD", "SHLVL", "_"];
    expect(names.filter((name) => !made.includes(name)).sort()).toEqual(
      [...ours, ...fixed, "LANG", "OPENAI_API_KEY", "TZ"].sort(),
    );
    expect(stdout).not.toMatch(/s3cret-value|passphrase/);
    expect(stdout).not.toContain(world.home);
    expect(code).toBe(0);
  });

  it("hides the home and shows the workspace; with --read-only nobody writes in it", async () => {
    await using world = await runWorld();
    const look = await world.run([
      "sh",
      "-c",
      `cat '${world.home}/policy.yml' || echo hidden; echo new > made.txt; cat made.txt`,
    ]);
    expect([look.code, look.stdout]).toEqual([0, "hidden\nnew\n"]);
    expect(await readFile(join(world.work, "made.txt"), "utf8")).toBe("new\n");
    const kept = await world.run(["sh", "-c", "echo other > made.txt || cat made.txt"], {
      args: ["--read-only"],
    });
    expect(kept.stdout).toBe("new\n");
    expect(await readFile(join(world.work, "made.txt"), "utf8")).toBe("new\n");
  });

  it("works in a workspace that is named by a link, at its real path", async () => {
    await using world = await runWorld();
    const link = join(world.path, "link");
    await symlink(world.work, link);
    const { stdout, code } = await world.run(["sh", "-c", "pwd -P; echo made > here"], {
      args: ["--workspace", link],
    });
    expect({ stdout, code }).toEqual({ stdout: `${world.work}\n`, code: 0 });
    expect(await readFile(join(world.work, "here"), "utf8")).toBe("made\n");
  });

  it("keeps the agent from those who answer, also where it may use sockets of its own", async () => {
    await using world = await runWorld();
    await world.write("agent.mjs", KNOCKER);
    await using running = world.start(["node", "agent.mjs"], { args: ["--unix-sockets"] });
    await using _silent = await world.attach(running);
    await world.write("where", join(world.home, "run", `${running.child.pid}.sock`));
    const { stdout } = await running.ended;
    expect(stdout).toMatch(/^own socket: connected\napprove socket: E[A-Z]+\n$/);
  });

  it("ends with 128 and the number of a signal, whenever that came", async () => {
    await using world = await runWorld();
    await using running = world.start(["sleep", "1000"]);
    await running.seen("stderr", "acp: ");
    running.child.kill("SIGTERM");
    expect(await running.ended).toMatchObject({
      code: 128 + constants.signals.SIGTERM,
      signal: null,
    });
  });

  it("passes standard input and output through", async () => {
    await using world = await runWorld();
    expect(await world.run(["tr", "a-z", "A-Z"], { input: "hello\n" })).toMatchObject({
      code: 0,
      stdout: "HELLO\n",
    });
  });

  it.each([
    ["its own", ["sh", "-c", "exit 7"], 7],
    ["125 too, where it is the command's", ["sh", "-c", "exit 125"], 125],
    ["128 and the signal's number", ["sh", "-c", "kill -TERM $$"], 128 + constants.signals.SIGTERM],
    [
      "137 of a command that was killed",
      ["sh", "-c", "kill -KILL $$"],
      128 + constants.signals.SIGKILL,
    ],
    ["126 of a command that cannot run", ["./no-program"], EXIT_CODES.not_runnable.code],
    ["127 of a command that is not there", ["no-such-program"], EXIT_CODES.not_found.code],
  ] as const)("ends with the command's exit code: %s", async (_which, command, code) => {
    await using world = await runWorld();
    await world.write("no-program", "text\n");
    expect((await world.run(command)).code).toBe(code);
  });

  it("hands signals to the command and ends when it does, not before", async () => {
    await using world = await runWorld();
    const lines = ["SIGINT", "SIGHUP", "SIGTERM", "SIGUSR1", "SIGQUIT"].map(
      (name) => `process.on("${name}", () => console.log("got ${name}"));`,
    );
    const end = `process.on("SIGUSR2", () => process.exit(3)); setInterval(() => {}, 1000); console.log("ready");`;
    await world.write("agent.mjs", [...lines, end].join("\n"));
    await using running = world.start(["node", "agent.mjs"]);
    await running.seen("stdout", "ready");
    for (const name of ["SIGINT", "SIGHUP", "SIGTERM", "SIGUSR1", "SIGQUIT"] as const) {
      running.child.kill(name);
      await running.seen("stdout", `got ${name}`);
    }
    running.child.kill("SIGUSR2");
    expect(await running.ended).toMatchObject({ code: 3, signal: null });
  });

  it("inside, acp says what to do instead", async () => {
    await using world = await runWorld();
    const { code, stderr } = await world.run(["acp", "mcp"]);
    expect(code).not.toBe(0);
    expect(stderr).toContain("acp-mcp-bridge");
  });
});

describe("acp run that does not start", () => {
  const at = ({ home, work }: RunWorld): AcpOptions => ({ home, cwd: work });

  it.each([
    [["--sandbox", "namspace"], '--sandbox "namspace"', "options_invalid"],
    [["--sandbox", "nmespace"], 'did you mean "namespace"?', "options_invalid"],
    [["--require", "none"], '--require "none"', "options_invalid"],
    [["--tty"], "acp run has no such option", "options_invalid"],
    [["--env", "NOT_SET_ANYWHERE"], "it is not set", "options_invalid"],
    [["--env", "ACP_HOME"], "acp run sets or hides it", "options_invalid"],
    [["--sandbox", "env", "--require", "partial"], 'env has level "none"', "sandbox_unavailable"],
    [["--mcp", "stdio"], "there is no MCP server", "config_invalid"],
    [["--config", "missing.yml"], "missing.yml", "home_invalid"],
  ])("ends with 125 for %j", async (args, text, code) => {
    await using world = await runWorld();
    // In this process: what does not start needs none of its own.
    const ended = await acpHere(
      ["run", ...args, "--", "touch", join(world.work, "started")],
      at(world),
    );
    expect([ended.code, ended.stdout, ended.stderr]).toEqual([
      BAD,
      "",
      expect.stringContaining(text),
    ]);
    expect(ended.stderr).toContain(`[${code}]`);
    await expect(access(join(world.work, "started"))).rejects.toMatchObject({ code: "ENOENT" });
  });

  it("ends with 125 without a command, and where the workspace holds the home", async () => {
    await using world = await runWorld();
    expect(await acpHere(["run"], at(world))).toMatchObject({
      code: BAD,
      stderr: expect.stringContaining("acp run -- COMMAND"),
    });
    const holds = await acpHere(["run", "--workspace", world.path, "--", "true"], at(world));
    expect([holds.code, holds.stderr]).toEqual([BAD, expect.stringContaining("stays hidden")]);
    const here = await acpHere(["run", "--", "true"], { ...at(world), cwd: world.path });
    expect([here.code, here.stderr]).toEqual([
      BAD,
      expect.stringMatching(/stays hidden; .* name one with --workspace \[options_invalid\]/),
    ]);
  });

  it("ends with 125 where the policy does not load", async () => {
    await using world = await runWorld({ policy: "version: 2\n" });
    expect(await world.run(["true"])).toMatchObject({
      code: BAD,
      stderr: expect.stringContaining("[policy_invalid]"),
    });
  });
});

describe("acp run --sandbox env", () => {
  it("cannot be overlooked, and every event says none", async () => {
    await using world = await runWorld();
    const { code, stdout, stderr } = await world.run(["curl", "-sS", `${world.origin}/items`], {
      args: ["--sandbox", "env"],
    });
    expect([code, stdout]).toEqual([0, "reached: GET /items\n"]);
    expect(stderr).toMatch(/^!{40,}$/m);
    expect(stderr).toContain("!! NO ISOLATION.");
    expect(stderr.includes("The agent runs as the same user")).toBe(process.getuid?.() !== 0);
    const events = await world.events();
    expect(isolationsOf(events)).toEqual(["none"]);
    expect(events.map(({ metadata }) => metadata["notice"])).toContain("isolation_none");
  });

  it("holds nobody: a program goes around, which is what it says", async () => {
    await using world = await runWorld();
    await world.run(["curl", "-sS", "--noproxy", "*", `${world.origin}/around`], {
      args: ["--sandbox", "env"],
    });
    expect(world.reached).toEqual(["GET /around"]);
  });
});
