/**
 * The demo: a real MCP client drives a real file server through `acp mcp`. A person answers at the
 * terminal; without one a script does. `--web` asks on a page in the browser, `--channel telegram`
 * and `--channel webhook` ask there. Ends with exit code 1 when anything is not as it has to be,
 * and leaves nothing behind.
 */
import { join } from "node:path";
import { parseArgs } from "node:util";
import { readAuditLog, verifyAuditLog } from "@acp/audit";
import type { AuditEvent } from "@acp/audit";
import { faultsOf, filesOf } from "./check.js";
import { attachPerson } from "./person.js";
import type { Person } from "./person.js";
import { print, showCall, showRecord } from "./show.js";
import { STEPS } from "./steps.js";
import type { Step } from "./steps.js";
import { recordOf } from "./timeline.js";
import { createTelegramPerson } from "./telegram-person.js";
import { openWebPerson } from "./web-person.js";
import { createWebhookPerson } from "./webhook-person.js";
import { createWorld } from "./world.js";
import type { World } from "./world.js";

async function eventsFrom(log: string, seq: number): Promise<readonly AuditEvent[]> {
  const events: AuditEvent[] = [];
  for await (const event of readAuditLog(log)) if (event.seq >= seq) events.push(event);
  return events;
}

/** The first text of a result. */
function textOf(content: unknown): string {
  const first: unknown = Array.isArray(content) ? content[0] : undefined;
  return typeof first === "object" && first !== null && "text" in first ? String(first.text) : "";
}

/** Makes one call as an agent does: told "pending, call again", it calls again. */
async function callUntilDecided(
  { client }: World,
  { tool, args }: Step,
  signal: AbortSignal,
): Promise<string> {
  for (;;) {
    const { content, _meta: meta } = await client.callTool(
      { name: tool, arguments: { ...args } },
      undefined,
      { signal },
    );
    if (meta?.["acp/pending"] === undefined) return textOf(content);
  }
}

/** Runs one call and returns what is not as it has to be. */
async function runStep({ world, person, signal }: Stage, step: Step): Promise<readonly string[]> {
  const log = join(world.home, "audit.jsonl");
  const { events } = await verifyAuditLog(log);
  const before = await filesOf(world.folder, step.args);
  const call = callUntilDecided(world, step, signal);
  const [answer] = await Promise.all([call, person.attend(step, call)]);
  const record = recordOf(await eventsFrom(log, events));
  showRecord(record, answer);
  const faults = [...(await faultsOf(world.folder, before, record))];
  // At a terminal the person decides; what the policy decides is the same everywhere.
  const isOpen = record.policy === "ask" && !person.isScripted && record.ends !== "not decided";
  if (!isOpen && record.ends !== step.ends)
    faults.push(`the call ended "${record.ends}", it had to end "${step.ends}"`);
  if (record.forwarded === record.ends.startsWith("denied"))
    faults.push(
      `the call ended "${record.ends}", and was ${record.forwarded ? "" : "not "}forwarded`,
    );
  for (const fault of faults) print(`   WRONG   ${fault}`);
  return faults;
}

interface Stage {
  readonly world: World;
  readonly person: Person;
  readonly signal: AbortSignal;
}

async function demo(signal: AbortSignal): Promise<number> {
  const startedAt = performance.now();
  const { channel, web: isWeb } = readArguments();
  await using remote = await remotePerson(channel, signal);
  await using world = await createWorld(remote?.config);
  await using person =
    remote ??
    (isWeb ? await openWebPerson(world.home, signal) : await attachPerson(world.home, signal));
  print(
    "An agent works with files. Its MCP client talks to `acp mcp`, which stands in front of @modelcontextprotocol/server-filesystem.",
  );
  print(person.introduction);
  for (const line of world
    .said()
    .filter((said) => said.startsWith("acp: ") && !said.startsWith("acp: [")))
    print(line);
  const faults: string[] = [];
  for (const [index, step] of STEPS.entries()) {
    showCall(index + 1, step, person.hint(step));
    faults.push(...(await runStep({ world, person, signal }, step)));
  }
  await world.client.close();
  const { ok, events, head } = await verifyAuditLog(join(world.home, "audit.jsonl"));
  print();
  print(
    `audit   ${events} events, the chain is ${ok ? "whole" : "BROKEN"}; head ${head?.hash ?? "none"}`,
  );
  print(
    `files   ${faults.length === 0 ? "the server did what was approved, and nothing else" : `${faults.length} not as approved`}`,
  );
  print(
    `demo    ${faults.length === 0 && ok ? "as it has to be" : "FAILED"} in ${((performance.now() - startedAt) / 1000).toFixed(1)} s; its folder is removed`,
  );
  return faults.length === 0 && ok ? 0 : 1;
}

function readArguments(): { readonly channel: string; readonly web: boolean } {
  const { channel, web = false } = parseArgs({
    options: { channel: { type: "string" }, web: { type: "boolean" } },
  }).values;
  if (web && channel !== undefined)
    throw new Error("--web and --channel are two places to ask; name one");
  return { channel: channel ?? "prompt", web };
}

/**
 * The person of `--channel`; `undefined` for the one at the terminal or the page, who can only be
 * reached once the gate runs.
 */
async function remotePerson(
  channel: string,
  signal: AbortSignal,
): Promise<(Person & { readonly config: string }) | undefined> {
  switch (channel) {
    case "prompt":
      return undefined;
    case "telegram":
      return createTelegramPerson(signal);
    case "webhook":
      return createWebhookPerson();
    default:
      throw new Error(`there is no channel "${channel}"; write prompt, telegram or webhook`);
  }
}

const stop = new AbortController();
for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
  process.on(name, () => stop.abort(new Error(name)));
process.exitCode = await demo(stop.signal).catch((error: unknown) => {
  if (stop.signal.aborted) print("\ndemo    stopped; its folder is removed");
  else console.error(`demo    FAILED: ${error instanceof Error ? error.message : String(error)}`);
  return stop.signal.aborted ? 130 : 1;
});
