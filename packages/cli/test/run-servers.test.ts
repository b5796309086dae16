/**
 * MCP servers of `acp run` in sandboxes of their own: a server that is against us tries to see the
 * workspace, the home, its neighbours and the network, and to outlive the run.
 */
import { readdirSync, readFileSync } from "node:fs";
import { chmod, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { EXIT_CODES } from "../src/exit-codes.js";
import { acp } from "./harness.js";
import { needSandbox } from "./run-world.js";
import { POLICY, serversWorld } from "./servers-world.js";

const KINDS = ["namespace", "landlock"] as const;
const NEEDS = { namespace: needSandbox("namespace"), landlock: needSandbox("landlock") } as const;
const NAMESPACE = NEEDS.namespace;

describe.each(KINDS.map((kind) => [kind, NEEDS[kind]] as const))(
  "MCP servers of acp run in %s",
  (kind, need) => {
    const args = ["--sandbox", kind];

    it.skipIf(!need.run)(
      `see no workspace, no home, no variables but their own, and say how they are held ${need.reason}`,
      async () => {
        await using world = await serversWorld();
        await world.serve(
          { name: "a", env: { A_TOKEN: "token-of-a" } },
          { name: "b", env: { B_TOKEN: "token-of-b" } },
        );
        const look = [
          `cat ${world.work}/secret`,
          `ls ${world.work}`,
          `ls ${world.home}`,
          `cat ${world.home}/config.yml`,
          "cat /proc/[0-9]*/environ | tr '\\0' '\\n'",
          "env",
        ];
        const said = await world.call(
          [
            ["a__run", look.join("; ")],
            ["b__run", "env"],
          ],
          args,
        );
        expect(said).toContain("A_TOKEN=token-of-a");
        expect(said.split("B_TOKEN=token-of-b")).toHaveLength(2);
        expect(said).not.toMatch(/of the workspace|call\.mjs|policy\.yml|upstream_servers/u);
        const events = await world.events();
        const notices = events.filter(({ metadata }) => metadata["notice"] === "server_isolation");
        const level = kind === "namespace" ? "full:namespace" : "partial:landlock";
        expect(notices.map(({ agent, metadata }) => [agent, metadata["isolation"]])).toEqual([
          ["server:a", level],
          ["server:b", level],
        ]);
      },
    );

    it.skipIf(!need.run)(
      `reach the hosts of their own list and no others, by the proxy alone, and the log says so ${need.reason}`,
      async () => {
        await using world = await serversWorld();
        await world.serve({ name: "listed", network: [world.authority] }, { name: "closed" });
        const [host = "", port = ""] = world.authority.split(":");
        const directly = `${process.execPath} -e 'require("net").connect(${port}, "${host}").on("connect", () => console.log("DIRECT")).on("error", (e) => console.log("held", e.code))'`;
        const get = (path: string): string => `curl -sS -m 20 ${world.origin}/${path}`;
        await world.call(
          [
            ["listed__run", `${get("listed")}; ${directly}`],
            ["closed__run", `${get("closed")}; ${directly}`],
          ],
          args,
        );
        expect(world.reached).toEqual(["GET /listed"]);
        const judged = (await world.events()).filter(
          ({ agent, metadata }) => agent.startsWith("server:") && metadata["notice"] === undefined,
        );
        const decisions = new Set(
          judged.flatMap(({ agent, decision }) =>
            decision === undefined || decision === "" ? [] : [`${agent} ${decision}`],
          ),
        );
        expect([...decisions].sort()).toEqual(["server:closed deny", "server:listed allow"]);
      },
    );

    it.skipIf(!need.run)(
      `keep their own home for the next run, and see no other's ${need.reason}`,
      async () => {
        await using world = await serversWorld();
        await world.serve({ name: "a" }, { name: "b" });
        const other = join(world.home, "servers/b/home");
        const write = (name: string): readonly [string, string] => [
          `${name}__run`,
          `echo "of ${name}" > "$HOME/kept"`,
        ];
        await world.call([write("a"), write("b")], args);
        const said = await world.call(
          [["a__run", `cat "$HOME/kept"; cat ${other}/kept; ls ${other} "$HOME/../../b/home"`]],
          args,
        );
        expect(said).toMatch(/^of a$/mu);
        expect(said).not.toMatch(/^of b$|^kept$/mu);
      },
    );

    it.skipIf(!need.run)(`do not outlive the run ${need.reason}`, async () => {
      await using world = await serversWorld();
      await world.serve({ name: "a" });
      const mark = `93${process.pid}`;
      expect(
        await world.call(
          [["run", `setsid sh -c 'sleep ${mark}' >/dev/null 2>&1 & echo started`]],
          args,
        ),
      ).toContain("started");
      expect(commandLines()).not.toContain(`sleep\0${mark}`);
    });
  },
);

describe.skipIf(!NAMESPACE.run)(`MCP servers of acp run ${NAMESPACE.reason}`, () => {
  it("get the workspace as far as their configuration says, guarded as the agent's", async () => {
    await using world = await serversWorld();
    await mkdir(join(world.work, ".vscode"));
    await world.serve({ name: "r", workspace: "read" }, { name: "w", workspace: "write" });
    const script = `pwd; cat ${world.work}/secret; echo x > ${world.work}/made-by-$1; echo x > ${world.work}/.vscode/tasks.json`;
    const said = await world.call([
      ["r__run", `set -- r; ${script}`],
      ["w__run", `set -- w; ${script}`],
    ]);
    expect(said.match(/of the workspace/gu)).toHaveLength(2);
    expect(said.match(/^\/home\/agent$/gmu)).toHaveLength(2);
    expect(readdirSync(world.work)).toContain("made-by-w");
    expect(readdirSync(world.work)).not.toContain("made-by-r");
    expect(readdirSync(join(world.work, ".vscode"))).toEqual([]);
  });

  it("see no place that the agent put a link to in place of a directory of theirs", async () => {
    await using world = await serversWorld();
    const keys = join(world.path, "keys");
    await mkdir(keys);
    await writeFile(join(keys, "id"), "of the person");
    await chmod(keys, 0o755);
    const docs = join(world.work, "docs");
    await world.run(["mkdir", "docs"]);
    await world.serve({ name: "a", read: [join(world.path, "programs"), docs] });
    await world.run(["sh", "-c", `rmdir docs && ln -s ${keys} docs`]);
    const { stdout, stderr } = await world.run([
      "node",
      "call.mjs",
      JSON.stringify([["run", `cat ${docs}/id ${keys}/id`]]),
    ]);
    expect(stdout).not.toContain("of the person");
    expect(stderr).toContain(`"${docs}" is a link, which an agent may have made`);
    const own = await world.run(["cat", `${keys}/id`], { args: ["--read", "docs"] });
    expect([own.code, own.stdout]).toEqual([EXIT_CODES.not_run.code, ""]);
  });

  it("write nothing after what is new in the workspace was set aside", async () => {
    await using world = await serversWorld();
    await world.serve({ name: "w", workspace: "write" });
    const file = `${world.work}/.envrc`;
    const call = JSON.stringify([
      [
        "run",
        `: > ${world.work}/on; while sleep 0.02; do [ -e ${file} ] || echo evil > ${file}; done`,
      ],
    ]);
    await world.run([
      "sh",
      "-c",
      `node call.mjs '${call}' & until test -e on; do sleep 0.1; done; kill -9 $!`,
    ]);
    expect(readdirSync(world.work)).toContain(".envrc.set-aside");
    expect(readdirSync(world.work)).not.toContain(".envrc");
  });

  it("get no secret of the vault filled in, also where the policy lets it go to their host", async () => {
    await using world = await serversWorld(
      `${POLICY}  - { id: filled, match: { kind: http, host: "127.0.0.2" }, action: allow, secrets: [TOKEN] }\n`,
    );
    expect(await acp(["init"], { home: world.home })).toMatchObject({ code: 0 });
    expect(
      await acp(["vault", "set", "TOKEN", "--host", world.authority], {
        home: world.home,
        input: "tok-0123456789",
      }),
    ).toMatchObject({
      code: 0,
    });
    await world.serve({ name: "a", network: [world.authority] });
    const get = (path: string): string =>
      `curl -sS -m 20 -H 'X-Token: {{secret:TOKEN}}' ${world.origin}/${path}`;
    await world.call([["run", get("server")]]);
    expect(world.reached).toEqual([]);
    await world.run(["sh", "-c", get("agent")]);
    expect(world.reached).toEqual(["GET /agent"]);
  });

  it("obey a policy that denies a host of their list", async () => {
    await using world = await serversWorld(
      `${POLICY}  - { id: never, match: { kind: http, host: "127.0.0.2" }, action: deny }\n`,
    );
    await world.serve({ name: "a", network: [world.authority] });
    expect(await world.call([["run", `curl -sS -m 20 ${world.origin}/denied`]])).toContain("never");
    expect(world.reached).toEqual([]);
  });

  it("reach no MCP service of the agent's", async () => {
    await using world = await serversWorld();
    await world.serve({ name: "a", network: ["mcp.acp.internal:1"] });
    const said = await world.call([
      ["run", "acp-mcp-bridge </dev/null; /run/acp/acp-mcp-bridge </dev/null"],
    ]);
    expect(said).not.toContain("serverInfo");
    expect(said).toMatch(/service|not found|refused/u);
  });

  it("start outside with sandbox: none alone, which is said and logged; what cannot be contained names it", async () => {
    await using world = await serversWorld();
    const server = { name: "a", sandbox: "none", read: undefined };
    await world.serve(server);
    const { stdout, stderr } = await world.run([
      "node",
      "call.mjs",
      JSON.stringify([["run", `cat ${world.work}/secret`]]),
    ]);
    expect(stdout).toContain("of the workspace");
    expect(stderr).toContain('MCP server "a" is started outside any sandbox');
    const notice = (await world.events()).find(({ agent }) => agent === "server:a");
    expect(notice?.metadata).toMatchObject({ isolation: "none", notice: "server_isolation" });
    for (const command of ["docker", "/usr/bin/podman", "uvx", "pipx"]) {
      await world.serve({ name: "a", command, args: ["run", "image"] });
      const { code, stderr: why } = await world.run(["true"]);
      expect([code, why]).toEqual([
        EXIT_CODES.not_run.code,
        expect.stringContaining('"sandbox: none"'),
      ]);
    }
  });

  it("name what their command names and they do not see", async () => {
    await using world = await serversWorld();
    await world.serve({ name: "a", read: [] });
    const { stderr } = await world.run(["true"]);
    expect(stderr).toContain(`it does not see ${join(world.path, "programs/server.mjs")}`);
    await world.serve({ name: "a", cwd: world.work });
    expect((await world.run(["true"])).stderr).toContain("does not show its working directory");
  });

  it("say which file of their command the agent can change", async () => {
    await using world = await serversWorld();
    await world.write("own.mjs", "");
    await world.serve({ name: "a", args: [join(world.work, "own.mjs")], workspace: "read" });
    const { stderr } = await world.run(["true"]);
    expect(stderr).toContain(`the agent can change ${join(world.work, "own.mjs")}`);
  });

  it("refuse an agent that is called as one of them", async () => {
    await using world = await serversWorld();
    const { code, stderr } = await world.run(["true"], { args: ["--agent", "server:a"] });
    expect([code, stderr]).toEqual([
      EXIT_CODES.not_run.code,
      expect.stringContaining("those of MCP servers"),
    ]);
  });
});

/** Command lines of all processes of this machine. */
function commandLines(): string {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/u.test(name))
    .map((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, "utf8");
      } catch {
        return "";
      }
    })
    .join("\n");
}
