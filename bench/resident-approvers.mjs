// How soon an approver knows: from the moment at which a client writes a call that asks until
// the question stands at an approver who is attached; and from the moment at which the socket of a new
// resident can be seen, after the one before was killed, until approvers are attached to it again. In
// a home that `acp init` makes, through the real `acp mcp`. Run it after a build. Linux.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { attachApprovers } from "@acp/channel-terminal";
import { makeResponse } from "@acp/core";
import { connect } from "./mcp/line-client.mjs";
import { ACP, SERVER, env } from "./resident/process.mjs";
import { fixed, summary } from "./samples.mjs";

const QUESTIONS = Number(process.env.QUESTIONS ?? 60);
const KILLS = Number(process.env.KILLS ?? 12);
const APPROVERS = 3;
/** A client that loses its resident three times within a minute waits: it does not here. */
const PAUSE_MS = 31_000;
const POLICY = `version: "1"
default_action: deny
rules:
  - { id: asks, match: { tool: echo }, action: ask }
`;
delete process.env.ACP_ALONE;
process.env.ACP_RESIDENT_SECONDS = env.ACP_RESIDENT_SECONDS;
const at = mkdtempSync(join(tmpdir(), "acp-bench-"));
const home = join(at, "h");
const acp = (...words) =>
  execFileSync(process.execPath, [ACP, ...words, "--home", home], {
    env,
    cwd: at,
    encoding: "utf8",
  });
const pidOf = () => JSON.parse(acp("resident", "status", "--json")).pid;

const sockets = (directory) => readdirSync(directory).filter((name) => name.endsWith(".sock"));

const stop = new AbortController();
const [asked, back] = [[], []];
let client;
try {
  acp("init");
  writeFileSync(join(home, "policy.yml"), POLICY, { mode: 0o600 });
  client = await connect([ACP, "mcp", "--home", home, "--", process.execPath, SERVER], { cwd: at });
  const directory = join(home, "run");
  const people = await Promise.all(
    Array.from({ length: APPROVERS }, () => attachApprovers({ directory, signal: stop.signal })),
  );
  const isAttached = () => people.every((each) => each.gates() === 1);
  while (!isAttached()) await wait(10);
  const changes = people.map((each) => each.changes[Symbol.asyncIterator]());
  /** The next question of each, and when the last of them had it. */
  const seen = () =>
    Promise.all(
      changes.map(async (each) => {
        for (;;) {
          const { value } = await each.next();
          if (value.type === "open") return value.question.request;
        }
      }),
    );
  for (let n = 0; n < QUESTIONS; n++) {
    const startMs = performance.now();
    const all = seen();
    const done = client.call(`q${n}`);
    const [request] = await all;
    if (n > 0) asked.push(performance.now() - startMs);
    const nowMs = Date.now();
    const answer = { decision: "approved", nowMs, validUntilMs: nowMs + 60_000, channel: "bench" };
    await people[0].answer(makeResponse(request, answer));
    await done;
  }
  for (let n = 0; n < KILLS; n++) {
    await wait(PAUSE_MS);
    const before = new Set(sockets(directory));
    process.kill(pidOf(), "SIGKILL");
    let startMs;
    for (let isBack = false; !isBack; isBack = startMs !== undefined && isAttached()) {
      await wait(1);
      if (sockets(directory).some((name) => !before.has(name))) startMs ??= performance.now();
    }
    back.push(performance.now() - startMs);
  }
} finally {
  stop.abort();
  await client?.end();
  acp("resident", "stop");
  rmSync(at, { recursive: true, force: true });
}

for (const { what, list } of [
  { what: `a call until ${APPROVERS} approvers have its question`, list: asked },
  { what: `the socket of a new resident until ${APPROVERS} approvers are attached`, list: back },
]) {
  const { p50, p99, samples } = summary(list);
  const over = list.filter((ms) => ms > 100).length;
  console.log(
    `  ${what}: p50 ${fixed(p50)} ms  p99 ${fixed(p99)} ms  most ${fixed(Math.max(...list))} ms  over 100 ms ${over} of ${samples}`,
  );
}
