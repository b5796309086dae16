/**
 * The demo: curl, a Node program with fetch and a Python script order umbrellas through `acp proxy
 * http`. What the policy allows goes on, what it denies does not, what it asks about waits for a
 * person, and that yes covers the host for a while. All of it stays on this machine. Ends with exit
 * code 1 when anything is not as it has to be, and leaves nothing behind.
 */
import { spawn } from "node:child_process";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { verifyAuditLog } from "@acp/audit";
import { attachApprover } from "./approver.js";
import type { Approver } from "./approver.js";
import { LANGUAGES } from "./languages.js";
import type { Language } from "./languages.js";
import { STEPS } from "./steps.js";
import type { Step } from "./steps.js";
import { createWorld } from "./world.js";
import type { World } from "./world.js";

const print = (line = ""): void => console.log(line);

interface Stage {
  readonly world: World;
  readonly approver: Approver;
}

/** Runs one program of a language to its end. */
async function send({ world }: Stage, language: Language, method: string): Promise<string> {
  const [program = "", ...args] = language.command(method, `${world.shop}/umbrellas`);
  const { PATH = "", HOME = "" } = process.env;
  const child = spawn(program, args, {
    env: { PATH, HOME, ...world.environment(language.name) },
    stdio: ["ignore", "pipe", "inherit"],
  });
  return (await text(child.stdout)).trim();
}

/** One request; what is not as it has to be. */
async function runStep(stage: Stage, language: Language, step: Step): Promise<readonly string[]> {
  const { world, approver } = stage;
  const before = world.reached.length;
  approver.expect(step);
  const answer = await send(stage, language, step.method);
  const asked = approver.expect(undefined);
  const reached = world.reached.length - before;
  const faults = [
    ...(answer.includes(String(step.status)) && answer.includes(step.says)
      ? []
      : [`the answer was ${answer}`]),
    ...(asked === (step.answer === undefined ? 0 : 1) ? [] : [`it was asked about ${asked} times`]),
    ...(reached === (step.status === 200 ? 1 : 0) ? [] : [`${reached} requests reached the shop`]),
  ];
  print(
    `${language.name.padEnd(7)} ${step.method.padEnd(7)} ${step.decided.padEnd(32)} ${step.status} ${step.says}`,
  );
  for (const fault of faults) print(`        WRONG   ${fault}`);
  return faults;
}

async function demo(): Promise<number> {
  const startedAt = performance.now();
  await using world = await createWorld();
  await using approver = await attachApprover(world.home);
  print(
    "Three programs order umbrellas. They find `acp proxy http` in their environment, each as an agent of its own.",
  );
  print(
    "No terminal is needed: a script answers for the person (examples/http-proxy/approver.ts).",
  );
  print();
  const faults: string[] = [];
  for (const language of LANGUAGES) {
    if (language.missing === undefined)
      for (const step of STEPS)
        faults.push(...(await runStep({ world, approver }, language, step)));
    else print(`${language.name.padEnd(7)} left out: ${language.missing}`);
  }
  const { ok, events } = await verifyAuditLog(join(world.home, "audit.jsonl"));
  print();
  print(`audit   ${events} events, the chain is ${ok ? "whole" : "BROKEN"}`);
  const isGood = faults.length === 0 && ok;
  print(
    `demo    ${isGood ? "as it has to be" : "FAILED"} in ${((performance.now() - startedAt) / 1000).toFixed(1)} s; its folder is removed`,
  );
  return isGood ? 0 : 1;
}

process.exitCode = await demo().catch((error: unknown) => {
  console.error(`demo    FAILED: ${error instanceof Error ? error.message : String(error)}`);
  return 1;
});
