/**
 * `acp run` in the sandboxes that are not the default, and what `acp sandbox probe` says of all.
 */
import { spawnSync } from "node:child_process";
import { chmod, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { hostNeed } from "@acp/testing";
import { describe, expect, it } from "vitest";
import { EXIT_CODES } from "../src/exit-codes.js";
import { BIN, acp, scratch } from "./harness.js";
import { program } from "./http-world.js";
import { isolationsOf, needSandbox, runWorld } from "./run-world.js";

const PRIVATE_NET = fileURLToPath(new URL("fixtures/private-net.sh", import.meta.url));

describe.each([
  ["landlock", "partial:landlock"],
  ["preload", "advisory:preload"],
  ["env", "none"],
])("acp run --sandbox %s", (sandbox, mark) => {
  const need = needSandbox(sandbox);

  it.skipIf(!need.run)(
    `leads programs to the gate, and every event says ${mark} ${need.reason}`,
    async () => {
      await using world = await runWorld();
      const allowed = await world.run(["curl", "-sS", `${world.origin}/items`], {
        args: ["--sandbox", sandbox],
      });
      expect([allowed.code, allowed.stdout]).toEqual([0, "reached: GET /items\n"]);
      const denied = await world.run(["curl", "-sS", "-X", "DELETE", `${world.origin}/items`], {
        args: ["--sandbox", sandbox],
      });
      expect(denied.stdout).toContain("policy_denied");
      expect(world.reached).toEqual(["GET /items"]);
      expect(isolationsOf(await world.events())).toEqual([mark]);
      expect(
        await world.run(["sh", "-c", "exit 9"], { args: ["--sandbox", sandbox] }),
      ).toMatchObject({ code: 9 });
    },
  );
});

const LANDLOCK = needSandbox("landlock");

describe.skipIf(!LANDLOCK.run)(`acp run --sandbox landlock ${LANDLOCK.reason}`, () => {
  it("lets nothing go around the gate, and hides the home", async () => {
    await using world = await runWorld();
    const args = ["--sandbox", "landlock"];
    const around = await world.run(["curl", "-sS", "--noproxy", "*", `${world.origin}/around`], {
      args,
    });
    expect([around.code, around.stdout, world.reached]).toEqual([7, "", []]);
    expect((await world.run(["cat", join(world.home, "policy.yml")], { args })).stdout).toBe("");
  });
});

describe("acp run --sandbox preload", () => {
  const need = needSandbox("preload");

  it.skipIf(!need.run)(
    `says that it is no barrier, so that nobody misses it ${need.reason}`,
    async () => {
      await using world = await runWorld();
      const { stderr } = await world.run(["true"], { args: ["--sandbox", "preload"] });
      expect(stderr).toContain("!! NO BARRIER.");
      expect((await world.events()).map(({ metadata }) => metadata["notice"])).toContain(
        "isolation_advisory",
      );
    },
  );
});

const ROOT = hostNeed("root, unshare, ip and nft", () => {
  if (process.getuid?.() !== 0) return "only root can load the rules of a uid";
  const { status, stderr } = spawnSync(
    "unshare",
    ["--net", "--mount", "sh", "-c", "ip link && nft list tables"],
    { encoding: "utf8" },
  );
  return status === 0 ? undefined : stderr;
});

/** Something to reach past the gate. */
const LISTEN = `require("node:http").createServer((_, answer) => answer.end("reached")).listen(0, "127.0.0.1", function () {
  require("node:fs").writeFileSync("port", String(this.address().port));
});
`;

/** Runs `acp` with a network and a /home of its own, where rules may be loaded. */
async function inPrivateNet(script: string): Promise<Awaited<ReturnType<typeof program>>> {
  await using over = await scratch();
  return await program(["sh", PRIVATE_NET, over.path, "sh", "-ec", script], {
    ACP: `${process.execPath} ${BIN}`,
  });
}

describe.skipIf(!ROOT.run)(`acp run with rules on a uid ${ROOT.reason}`, () => {
  it("--sandbox uid holds a user to the gate, whose events say so", async () => {
    await using at = await scratch();
    const [home, work] = [join(at.path, "h"), join(at.path, "w")];
    await mkdir(home, { mode: 0o700 });
    await mkdir(work, { mode: 0o755 });
    await chmod(at.path, 0o755);
    await writeFile(join(home, "policy.yml"), 'version: "1"\ndefault_action: deny\nrules: []\n', {
      mode: 0o600,
    });
    await writeFile(join(work, "listen.cjs"), LISTEN);
    await writeFile(join(work, "agent.sh"), "id -u\ncurl -sS http://192.0.2.1/\n. ./around.sh\n");
    await writeFile(
      join(work, "around.sh"),
      'curl -sS -m 20 --noproxy "*" "http://127.0.0.1:$(cat port)/"\necho " around: $?"\n',
    );
    const run = `$ACP run --home ${home} --sandbox uid --user openclaw --read-only -- sh agent.sh`;
    const { out, code } = await inPrivateNet(
      `cd ${work}; node listen.cjs & until test -s ${work}/port; do sleep 0.1; done; cd ${work}; sh around.sh; ${run}; kill $!; cat ${home}/audit.jsonl`,
    );
    expect(code).toBe(0);
    expect(out).toMatch(/^reached around: 0\n61078\n.*policy_denied.*\n around: 7\n/s);
    expect(out).toContain('"isolation":"uid:uid"');
    expect(out).not.toContain('"isolation":"none"');
  });

  it("--openclaw-user takes config, policy and log of that user's home, while they are root's", async () => {
    const run =
      "$ACP run --openclaw-user openclaw -- sh -c 'id -un; cat /home/openclaw/.acp/config.yml; exit 6'";
    const good = await inPrivateNet(
      `$ACP init --home /home/openclaw/.acp </dev/null >/dev/null; export ACP_ALONE=0; ${run} || echo code $?; cat /home/openclaw/.acp/audit.jsonl`,
    );
    expect(good.out).toMatch(/^openclaw\ncode 6\n/);
    expect(good.err).toContain("this run has a gate and a log of its own");
    expect(good.out).toContain('"isolation":"uid:uid"');
    const bad = await inPrivateNet(
      `$ACP init --home /home/openclaw/.acp </dev/null >/dev/null; chown openclaw /home/openclaw/.acp/policy.yml; ${run} || echo code $?`,
    );
    expect([bad.out, bad.err]).toEqual([
      `code ${EXIT_CODES.not_run.code}\n`,
      expect.stringContaining("chown root:root"),
    ]);
  });
});

describe("acp sandbox probe", () => {
  it("prints a table without colours where nobody looks, with the reason of each sandbox", async () => {
    const { code, stdout } = await acp(["sandbox", "probe"]);
    expect(stdout).toMatch(/^sandbox +level +can start$/m);
    for (const name of ["namespace", "uid", "landlock", "preload", "env"])
      expect(stdout).toMatch(new RegExp(`^${name}: \\S`, "m"));
    expect(stdout).not.toContain("\u001b");
    expect(stdout).toMatch(/^env +none +yes$/m);
    expect([0, EXIT_CODES.nothing.code]).toContain(code);
  });

  it("prints every report as JSON, and its exit code says whether one of them holds", async () => {
    const { code, stdout } = await acp(["sandbox", "probe", "--json"]);
    const { sandboxes } = JSON.parse(stdout);
    expect(sandboxes.map(({ sandbox }: { readonly sandbox: string }) => sandbox)).toEqual([
      "namespace",
      "uid",
      "landlock",
      "preload",
      "env",
    ]);
    const levels = sandboxes.map(({ level }: { readonly level: string }) => level);
    const holds = levels.some((level: string) => ["full", "uid", "partial"].includes(level));
    expect(code).toBe(holds ? 0 : EXIT_CODES.nothing.code);
    for (const { items } of sandboxes) expect(items).toHaveLength(15);
  });
});
