/**
 * The built `acp` as a child process. Each command that answers and ends says there what its
 * sources say in this process, which is where the tests of what it says run it; and what only a
 * process can do: streams that stay open, that somebody closes, and terminals.
 */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { openAuditLog } from "@acp/audit";
import type { AuditEventInput } from "@acp/core";
import { describe, expect, it } from "vitest";
import { acpHere } from "./acp-here.js";
import { acp, scratch, startAcp } from "./harness.js";
import type { Scratch } from "./harness.js";
import { sampleEvent } from "./sample-event.js";

interface World extends Scratch {
  readonly home: string;
  readonly log: string;
}

async function append(path: string, events: readonly AuditEventInput[]): Promise<void> {
  await using log = await openAuditLog({ path });
  await log.append(events);
}

/** What `acp init` makes, and the events in its log. */
async function world(events: readonly AuditEventInput[] = []): Promise<World> {
  const at = await scratch();
  const home = join(at.path, "h");
  expect(await acpHere(["init"], { home })).toMatchObject({ code: 0 });
  const log = join(home, "audit.jsonl");
  if (events.length > 0) await append(log, events);
  return { ...at, home, log };
}

describe("the built acp", () => {
  it("says what its sources say", async () => {
    await using at = await world([
      sampleEvent("ae_1"),
      sampleEvent("ae_2", { decision: "denied" }),
    ]);
    for (const args of [
      ["--help"],
      ["--version", "--json"],
      ["policy", "check", "--json"],
      ["policy", "explain", "--tool", "files.read_file", "--args", "{}"],
      ["audit", "show", "--decision", "denied"],
      ["audit", "export", "--format", "csv"],
      ["suggest", "--json"],
      ["why", "nothing"],
      ["exec", "check", "ls && frobnicate x"],
      ["pending", "--json"],
      ["doctor", "--quick"],
    ]) {
      const options = { home: at.home, cwd: at.path, input: "" };
      expect(await acp(args, options)).toEqual(await acpHere(args, options));
    }
  });
});

describe("acp audit as a process", () => {
  it("verify shows how far it is on a terminal", async () => {
    await using at = await world();
    const seen = await new Promise<string>((resolve) => {
      const env = { ...process.env, ACP_HOME: at.home };
      const command = `'${process.execPath}' '${new URL("../bin/acp.cjs", import.meta.url).pathname}' audit verify`;
      execFile("script", ["-qec", command, "/dev/null"], { env }, (_error, stdout) =>
        resolve(stdout),
      );
    });
    expect(seen).toMatch(/audit\.jsonl: 100 %, 2 events/);
  });

  it("show --follow shows what is there and what comes, also of logs that are new, until Ctrl-C", async () => {
    await using at = await world([
      sampleEvent("ae_1", { agent: "two" }),
      sampleEvent("ae_2"),
      sampleEvent("ae_3"),
      sampleEvent("ae_4"),
    ]);
    await using shown = startAcp(["audit", "show", "--follow", "--json", "--agent", "one"], {
      home: at.home,
    });
    await shown.seen("stdout", "ae_4");
    await append(at.log, [
      sampleEvent("ae_5"),
      sampleEvent("ae_6", { agent: "two" }),
      sampleEvent("ae_7"),
    ]);
    await Promise.all(
      [2, 3, 7].map((number) =>
        append(join(at.home, `audit.${number}.jsonl`), [sampleEvent(`new_${number}`)]),
      ),
    );
    await Promise.all(["ae_7", "new_2", "new_3", "new_7"].map((id) => shown.seen("stdout", id)));
    shown.child.kill("SIGINT");
    const { code, stdout } = await shown.ended;
    const ids = stdout
      .split("\n")
      .flatMap((line): readonly string[] => (line === "" ? [] : [JSON.parse(line).id]));
    expect([code, ids.toSorted()]).toEqual([
      0,
      ["ae_2", "ae_3", "ae_4", "ae_5", "ae_7", "new_2", "new_3", "new_7"],
    ]);
  });

  it("show ends quietly when its reader has seen enough", async () => {
    await using at = await world(
      Array.from({ length: 200 }, (_, index) => sampleEvent(`ae_${index}`)),
    );
    await using running = startAcp(["audit", "show", "--json", "--limit", "0"], {
      home: at.home,
      input: "",
    });
    running.child.stdout?.destroy();
    expect(await running.ended).toMatchObject({ stderr: "" });
  });
});

it("acp exec check --stdin answers each line as it comes", async () => {
  await using running = startAcp(["exec", "check", "--stdin"]);
  running.child.stdin?.write('"git status"\n');
  await running.seen("stdout", '"command":"git status"');
  running.child.stdin?.write('"npm publish"\n');
  await running.seen("stdout", '"command":"npm publish"');
  running.child.stdin?.end();
  expect((await running.ended).code).toBe(0);
});
