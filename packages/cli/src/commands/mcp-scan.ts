/**
 * `acp mcp scan`: starts every MCP server of the configuration as `acp mcp` does, and reports what
 * each presents. It calls no tool, pins nothing and accepts nothing.
 */
import { asError, escapeText, quoteText, systemClock } from "@acp/core";
import type { JsonObject } from "@acp/core";
import type { ServerPins, UpstreamServer } from "@acp/home";
import type { PresentedText, PinState, UpstreamConfig } from "@acp/proxy-mcp";
import type { Invocation, Run } from "../command.js";
import type { Exit } from "../exit-codes.js";
import { lookAtAgent } from "../gate/agent-process.js";
import { chooseServers, openEnvironments, readHomeConfig } from "../gate/config.js";
import { homeOf } from "../home/home-source.js";
import type { GateInUse } from "../gate/with-gate.js";
import { askServer } from "../pins/ask-server.js";
import { collisionsOf } from "../pins/collisions.js";
import type { Collision } from "../pins/collisions.js";
import { guardedPins, unpinnedText } from "../pins/home-pins.js";
import { judgePresented } from "../pins/judge-presented.js";
import { serverIdentity } from "../pins/server-identity.js";
import { findingsIn, nameOfPin, showFinding } from "../pins/show-change.js";
import { ALONE, openMcpServers } from "./mcp.js";

/** Runs `acp mcp scan`. */
export const mcpScan: Run = async (invocation) => {
  const { io, print } = invocation;
  const signal = io.onStop();
  const home = await homeOf(invocation);
  const source = await readHomeConfig(home, invocation);
  const servers = chooseServers(source, invocation);
  const host = await lookAtAgent(io.ppid);
  const homeKeys = await ALONE.keys(home, invocation);
  const { keys } = homeKeys;
  const opened = await openEnvironments(servers, { file: source.file, keys, env: io.env });
  const shared = { invocation, signal, source, homeKeys, home, agentId: "acp-mcp-scan" };
  const reports = await ALONE.withGate(
    { ...shared, host, ways: [] },
    async (inUse): Promise<readonly Report[]> => {
      await using open = await openMcpServers({
        ...shared,
        inUse,
        servers: opened,
        outside: (server) => Promise.resolve(ALONE.outside(server)),
      });
      const known = await guardedPins(home, inUse.rollback).read();
      const all: Report[] = [];
      // One after the other: a person reads what each says.
      for (const upstream of open.upstreams)
        all.push(await reportOf(upstream, { servers, known, inUse, signal, print }));
      open.endStarts();
      return all;
    },
  );
  const collisions = collisionsOf(reports.flatMap(({ tools }) => tools));
  print.result(
    {
      servers: reports.map(({ json }) => json),
      collisions: collisions.map((each) => ({
        ...each,
        tools: each.tools.map((tool) => ({ ...tool })),
      })),
    },
    () => [...reports.flatMap(({ lines }) => lines), ...collisions.map(collisionLine)],
  );
  return exitOf(reports, collisions);
};

/** What is said of one server. */
interface Report {
  readonly json: JsonObject;
  readonly lines: readonly string[];
  readonly tools: readonly {
    readonly server: string;
    readonly name: string;
    readonly text: string;
  }[];
  readonly isThere: boolean;
  /** Whether a person should look at it. */
  readonly isOdd: boolean;
}

interface Reporting {
  readonly servers: readonly UpstreamServer[];
  readonly known: readonly ServerPins[];
  readonly inUse: GateInUse;
  readonly signal: AbortSignal;
  readonly print: Invocation["print"];
}

async function reportOf(upstream: UpstreamConfig, parts: Reporting): Promise<Report> {
  const { servers, known, inUse, signal, print } = parts;
  const server = upstream.name;
  const config = servers.find(({ name }) => name === server);
  const id = config === undefined ? "" : serverIdentity(config);
  const head = { server, identity: id };
  try {
    const log = (line: string): void => print.notice(line);
    const { texts, leftOut } = await askServer(upstream, { gate: inUse.gate, signal, log });
    const asked = { presented: texts, nowMs: systemClock.now() };
    const { states, unpinned } = judgePresented(known, { id, server }, asked);
    const items = texts.map((text, at) => itemOf(text, states[at] ?? "changed"));
    const tools = texts.flatMap(({ kind, name, text }) =>
      kind === "tool" ? [{ server, name, text }] : [],
    );
    const isOdd = leftOut.length > 0 || items.some((item) => item.isOdd);
    return {
      json: {
        ...head,
        started: true,
        items: items.map(({ json }) => json),
        left_out: [...leftOut],
        ...(unpinned > 0 && { unpinned }),
      },
      lines: [
        `${server}  ${countOf(texts)}, ${stateText(items.map(({ state }) => state))}`,
        ...items.flatMap(({ lines }) => lines),
        ...leftOut.map((line) => `  ! ${escapeText(line)}`),
        ...(unpinned > 0 ? [`  · ${unpinnedText(server, unpinned)}`] : []),
      ],
      tools,
      isThere: true,
      isOdd,
    };
  } catch (error) {
    const { message: reason } = asError(error);
    return {
      json: { ...head, started: false, reason },
      lines: [`${server}  NOT STARTED: ${escapeText(reason)}`],
      tools: [],
      isThere: false,
      isOdd: false,
    };
  }
}

interface Item {
  readonly json: JsonObject;
  readonly lines: readonly string[];
  readonly state: PinState;
  readonly isOdd: boolean;
}

function itemOf(text: PresentedText, state: PinState): Item {
  const { kind, name, pin } = text;
  const findings = findingsIn(text, text.text);
  const isOdd = state === "changed" || findings.some(({ weight }) => weight === "high");
  const isSaid = isOdd || findings.length > 0;
  return {
    json: { kind, name, pin, state, findings: findings.map((each) => ({ ...each })) },
    lines: isSaid
      ? [
          `  ${nameOfPin(text)} ${state === "changed" ? "CHANGED: acp mcp review" : `is ${state}`}`,
          ...findings.map((finding) => `    ${showFinding(finding)}`),
        ]
      : [],
    state,
    isOdd,
  };
}

/** `2 tools, 1 prompt`. */
function countOf(texts: readonly PresentedText[]): string {
  const kinds = ["tool", "prompt", "resource", "template"] as const;
  const counts = kinds.map((kind) => {
    const { length } = texts.filter((text) => text.kind === kind);
    return length === 0 && kind !== "tool" ? [] : `${length} ${kind}${length === 1 ? "" : "s"}`;
  });
  return counts.flat().join(", ");
}

function stateText(states: readonly PinState[]): string {
  const count = (wanted: PinState): number => states.filter((state) => state === wanted).length;
  return `${count("new")} new, ${count("same")} as before, ${count("changed")} changed`;
}

const COLLISIONS: Readonly<Record<Collision["code"], string>> = {
  same_name: "have one name",
  look_alike_names: "have names that look alike",
  names_other_tool: "the definition of the first speaks of the second",
};

function collisionLine({ code, weight, tools }: Collision): string {
  const named = tools.map(({ server, name }) => `${server}: ${quoteText(name)}`).join(", ");
  return `${weight === "high" ? "!" : "·"} ${COLLISIONS[code]}: ${named}`;
}

function exitOf(reports: readonly Report[], collisions: readonly Collision[]): Exit {
  if (reports.some(({ isOdd }) => isOdd) || collisions.some(({ weight }) => weight === "high"))
    return "review";
  return reports.every(({ isThere }) => isThere) ? "ok" : "failed";
}
