/**
 * Home pins: what the servers of a gate present, held against the home's pins. First sight and
 * change are in the log before anything passes. Format: spec/tool-pins.md.
 */
import { ConsentError, quoteText, systemClock } from "@acp/core";
import type { JsonObject } from "@acp/core";
import { fileToolPins } from "@acp/home";
import type { FileToolPins, HomePaths, ServerPins, UpstreamServer } from "@acp/home";
import type { HideDenied, PresentedText, ToolPins } from "@acp/proxy-mcp";
import type { Notices } from "../gate/notices.js";
import type { GateInUse } from "../gate/with-gate.js";
import type { RollbackGuard } from "../rollback/state-guard.js";
import { judgePresented, RESOURCE_PINS_MAX } from "./judge-presented.js";
import type { Judged, Presenter } from "./judge-presented.js";
import { serverIdentity } from "./server-identity.js";

/** What the pins of a gate need. */
export interface HomePinsParts {
  readonly home: Pick<HomePaths, "toolPinsPath" | "toolTextsDir">;
  /** Holds the file against the home's logs. */
  readonly guard: RollbackGuard;
  /** As the configuration has them. */
  readonly servers: readonly UpstreamServer[];
  readonly notices: Pick<Notices, "say" | "log">;
}

/** The pins of the home as its logs note them. */
export function guardedPins(home: HomePinsParts["home"], guard: RollbackGuard): FileToolPins {
  return fileToolPins(home, { guard: guard.of("pins") });
}

/** Names of the servers whose annotations count. */
export const trustedIn = (servers: readonly UpstreamServer[]): readonly string[] =>
  servers.flatMap(({ name, trust }) => (trust === "annotations" ? [name] : []));

/** Of which servers tools are left out of lists that the policy denies in any case. */
export const hiddenIn = (
  servers: readonly UpstreamServer[],
  { onPolicyChange }: Pick<GateInUse, "onPolicyChange">,
): HideDenied => ({
  servers: new Set(servers.flatMap(({ name, hideDenied }) => (hideDenied === true ? [name] : []))),
  onChange: onPolicyChange,
});

/**
 * Changes of one server that are noted within an hour, each of a list's page: as many as one list has.
 */
const NOTED_MAX = 50;
const HOUR_MS: number = 60 * 60 * 1_000;

/** Tools that one event names; the others are counted. */
const NAMED_MAX = 200;

/** The pins for a proxy. */
export function createHomePins({ home, guard, servers, notices }: HomePinsParts): ToolPins {
  const pins = guardedPins(home, guard);
  const ids = new Map(servers.map((server) => [server.name, serverIdentity(server)]));
  const noted = new Map<string, readonly number[]>();
  const told = new Set<string>();
  return {
    async look(server, presented) {
      const id = ids.get(server);
      if (id === undefined)
        throw new ConsentError(
          "options_invalid",
          `Cannot compare the tools of ${quoteText(server)}: it is not a server of the configuration`,
        );
      const sinceMs = systemClock.monotonic() - HOUR_MS;
      const lately = (noted.get(id) ?? []).filter((atMs) => atMs > sinceMs);
      const isNoted = lately.length < NOTED_MAX;
      const asked = { presented, nowMs: systemClock.now(), isNoted };
      const before = await pins.read();
      const judged = judgePresented(before, { id, server }, asked);
      if (judged.unpinned > 0 && !told.has(id)) {
        told.add(id);
        await notices.say("resources_unpinned", unpinnedText(server, judged.unpinned));
      }
      if (judged.next === undefined) return judged.states;
      // Another client's gate may have pinned meanwhile: the first one counts.
      const { written, isKnown, isMoved } = await pins.change((now) => {
        const again = judgePresented(now, { id, server }, asked);
        const known = now.some((each) => each.id === id);
        const moved = !known && now.some((each) => each.server === server);
        return { next: again.next, answer: { written: again, isKnown: known, isMoved: moved } };
      });
      if (written.changed.length > 0) noted.set(id, [...lately, systemClock.monotonic()]);
      await keepTexts(pins, { id, server }, written);
      await note(notices, { id, server }, { ...written, isKnown, isMoved });
      return written.states;
    },
  };
}

/** What nobody would see change. */
export function unpinnedText(server: string, count: number): string {
  return `The MCP server ${quoteText(server)} has more resources with texts than are pinned (${RESOURCE_PINS_MAX}): of ${count}, a change is not noticed`;
}

/** For people to compare: it decides nothing, so nothing waits for room for it. */
async function keepTexts(
  pins: FileToolPins,
  { id }: Presenter,
  { added, changed, next }: Judged,
): Promise<void> {
  const texts = [...added, ...changed].map(({ text }) => text);
  if (texts.length > 0) await pins.keepTexts(id, texts, pinsNamed(next, id)).catch(() => {});
}

function pinsNamed(servers: readonly ServerPins[] | undefined, id: string): ReadonlySet<string> {
  const own = servers?.find((each) => each.id === id);
  return new Set(
    (own?.pins ?? []).flatMap(({ pin, found }) => (found === undefined ? [pin] : [pin, found])),
  );
}

interface Noted extends Judged {
  /** Whether this identity had pins. */
  readonly isKnown: boolean;
  /** Whether another identity of the same name had. */
  readonly isMoved: boolean;
}

async function note(
  notices: HomePinsParts["notices"],
  { id, server }: Presenter,
  { added, changed, isKnown, isMoved }: Noted,
): Promise<void> {
  const named = quoteText(server);
  if (isMoved)
    await notices.say(
      "server_changed",
      `The MCP server ${named} has another command or address than before: it is a new server, and its tools are seen for the first time`,
    );
  if (added.length > 0)
    await notices.log(
      "tools_seen",
      `${added.length} texts of the MCP server ${named} are seen for the first time${isKnown ? "" : ", and so is the server"}`,
      listed(id, server, added),
    );
  if (changed.length > 0)
    await notices.log(
      "tools_changed",
      `${changed.length} texts of the MCP server ${named} changed, and are held back: acp mcp review`,
      listed(id, server, changed),
    );
}

const listed = (id: string, server: string, texts: readonly PresentedText[]): JsonObject => ({
  server,
  identity: id,
  count: texts.length,
  pins: texts.slice(0, NAMED_MAX).map(({ kind, name, pin }) => ({ kind, name, pin })),
});
