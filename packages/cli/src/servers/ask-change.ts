/**
 * Ask about a change: whether other packages may be installed for a server, as an action of the
 * gate. What is said yes to is bound by its digest, and a person is asked in any case: no rule says
 * yes to code that nobody has seen.
 */
import { isToolAction, toolAction } from "@acp/core";
import type { Agent, ConsentGate, JsonObject, Layer } from "@acp/core";
import { describeChanges, showSpec } from "./tree-change.js";
import type { TreeChange } from "./tree-change.js";

/** As no server of a configuration is called. */
const SERVER = "acp.servers";
const TOOL = "change_packages";

/** Has changes asked about that a policy would allow; a policy that denies them still does. */
export const askAboutChanges: Layer = {
  name: "servers",
  onlyRestricts: true,
  judge(action) {
    if (!isToolAction(action) || action.meta.server !== SERVER) return undefined;
    return {
      effect: "ask",
      ruleId: "server-packages",
      reason: "other packages than the pinned ones would be installed and started",
      level: "high",
      ask: { offers: [] },
    };
  },
};

/** Who asks, and until when. */
export interface AskingParts {
  readonly gate: ConsentGate;
  readonly agent: Agent;
  readonly signal: AbortSignal;
}

/** Asks; a yes holds for this change alone. */
export async function askAboutChange(
  change: TreeChange,
  { gate, agent, signal }: AskingParts,
): Promise<boolean> {
  const { ran } = await gate.run(
    toolAction(SERVER, TOOL, changeParameters(change)),
    () => Promise.resolve(true),
    { agent, signal },
  );
  return ran;
}

/** What a person sees, and what the yes is bound to. */
function changeParameters({ name, packages, lockfile, changes }: TreeChange): JsonObject {
  return {
    server: name,
    packages: packages.map(showSpec),
    lockfile,
    scripts: changes.flatMap(({ after }) =>
      after?.hasScripts === true ? [`${after.name}@${after.version}`] : [],
    ),
    changes: [...describeChanges(changes)],
  };
}
