/**
 * The demo: an agent that was talked into leaking a file runs inside `acp run` and tries five ways
 * out, then the one that it may take. All of it stays on this machine. Ends with exit code 1 when
 * anything is not as it has to be, and leaves nothing behind. `--sandbox NAME` takes another
 * backend than the strongest that there is: with `env`, which holds nothing, the demo fails.
 */
import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { parseArgs } from "node:util";
import { readAuditLog, verifyAuditLog } from "@acp/audit";
import { WAYS } from "./ways.js";
import { createWorld } from "./world.js";
import type { World } from "./world.js";

const require = createRequire(import.meta.url);
const ACP = join(dirname(require.resolve("@acp/cli/package.json")), "bin/acp.cjs");
const { values } = parseArgs({ options: { sandbox: { type: "string" } } });

const print = (line = ""): void => console.log(line);

/** Runs the agent to its end; what it saw on each way. */
async function runAgent({ home, work, ports }: World): Promise<ReadonlyMap<string, string>> {
  const options = [
    // Nothing of it stays.
    "--alone",
    "--home",
    home,
    "--env",
    "PORTS",
    "--read-only",
    ...(values.sandbox === undefined ? [] : ["--sandbox", values.sandbox]),
  ];
  const child = spawn(process.execPath, [ACP, "run", ...options, "--", "node", "agent.mjs"], {
    cwd: work,
    env: { ...process.env, PORTS: JSON.stringify(ports) },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = new Promise<number | null>((resolve) => child.on("close", resolve));
  const saw = new Map<string, string>();
  for await (const line of createInterface({ input: child.stdout })) {
    const [way = "", word = ""] = line.split("\t");
    saw.set(way, word);
  }
  const code = await ended;
  if (code !== 0) throw new Error(`acp run ended with ${code}`);
  return saw;
}

/**
 * What the log says of everything that the agent did: which boundary it was in. Events of the log
 * itself are nobody's.
 */
async function isolationsIn(log: string): Promise<readonly string[]> {
  const found = new Set<string>();
  for await (const { metadata } of readAuditLog(log))
    if (typeof metadata["isolation"] === "string") found.add(metadata["isolation"]);
  return [...found];
}

async function demo(): Promise<number> {
  await using world = await createWorld();
  print(
    "An agent was talked into leaking customers.csv. It runs inside `acp run`; the policy lets it talk to its own service alone.",
  );
  print();
  const saw = await runAgent(world);
  let faults = 0;
  for (const { name, tells, isAllowed } of WAYS) {
    const arrived = world.reached(name);
    const isGood = arrived > 0 === isAllowed;
    faults += isGood ? 0 : 1;
    const came = arrived === 0 ? "nothing arrived" : isAllowed ? "arrived" : "it arrived: LEAKED";
    print(
      `${name.padEnd(8)} ${tells.padEnd(34)} ${(saw.get(name) ?? "no word").padEnd(18)} ${came}${isGood || !isAllowed ? "" : ": WRONG"}`,
    );
  }
  const log = join(world.home, "audit.jsonl");
  const { ok, events } = await verifyAuditLog(log);
  print();
  print(
    `audit    ${events} events, isolation ${(await isolationsIn(log)).join(" and ")}, the chain is ${ok ? "whole" : "BROKEN"}`,
  );
  print(`demo     ${faults === 0 && ok ? "as it has to be" : "FAILED"}; its folder is removed`);
  return faults === 0 && ok ? 0 : 1;
}

process.exitCode = await demo().catch((error: unknown) => {
  console.error(`demo     FAILED: ${error instanceof Error ? error.message : String(error)}`);
  return 1;
});
