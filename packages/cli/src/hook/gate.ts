/**
 * Hook gate: the gate of a home that asks people about the commands of coding agents. What judges a
 * command is its profile and its project, never the home's policy, whose rules about tools would
 * ask about each of them.
 */
import { createHash } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import type { AuditSink, ConsentGate, Layer, PendingRecord, Ruling } from "@acp/core";
import { execSafety } from "@acp/core/exec";
import type { ExecApprovalConfig } from "@acp/core/exec";
import type { Invocation } from "../command.js";
import { readHomeConfig } from "../gate/config.js";
import { openHomeKeys } from "../gate/home-keys.js";
import type { GatesOfHome } from "../commands/mcp.js";
import type { HomePaths } from "@acp/home";
import { makeHome } from "../home/make-home.js";
import { makeIndexFor } from "../logs/index-rebuild.js";
import { withGate } from "../gate/with-gate.js";
import type { GateInUse } from "../gate/with-gate.js";

/** Under what a command is judged. */
export interface HookTerms {
  readonly config: ExecApprovalConfig;
  /** Whether a profile says how long a question stays open; else the home's configuration does. */
  readonly isTimed: boolean;
  readonly projectRoot?: string;
}

/** The gate, open. */
export interface HookGate extends AsyncDisposable {
  readonly gate: ConsentGate;
  /** Where it writes. */
  readonly log: AuditSink;
  /** What names terms to the gate: the task of a call that is judged under them. */
  taskOf(terms: HookTerms): string;
  /**
   * Resolves once somebody can answer, or once whoever watches for gates has had the time to find
   * this one.
   */
  attended(): Promise<void>;
}

/** Where hooks get their gate: a process of its own opens one, the resident has them. */
export type HookGates = Pick<GatesOfHome, "keys" | "withGate">;

const ALONE: HookGates = {
  async keys(home, invocation) {
    await makeHookIndex(home);
    return openHomeKeys(home, invocation);
  },
  withGate,
};

/** An agent that waits longer takes its hook for none, and runs the command. */
const INDEX_MS = 5_000;

/**
 * Makes what the indexes of a home lack, for one hook that answers alone.
 *
 * @throws ConsentError `index_rebuilding` where that takes longer: the next hook goes on there.
 */
export const makeHookIndex = (home: Pick<HomePaths, "dir" | "keysDir">): Promise<void> =>
  makeIndexFor(INDEX_MS, { home });

/** Whose gate it is, in the log's notices. */
const AGENT_ID = "hook";
/** Terms that are remembered; a question whose terms are forgotten can only be denied. */
const TERMS_MAX = 256;
/** Approvers look for new gates once a second. */
const ATTEND_MS = 2_500;
const LOOK_EVERY_MS = 25;

/**
 * Opens the gate of a home.
 *
 * @param dir - The home.
 * @throws ConsentError what a part of the home throws that does not load.
 */
export async function openHookGate(
  dir: string,
  invocation: Invocation,
  gates: HookGates = ALONE,
): Promise<HookGate> {
  const home = await makeHome(dir);
  const source = await readHomeConfig(home, invocation);
  const homeKeys = await gates.keys(home, invocation);
  const terms = createTermsLayer();
  const over = new AbortController();
  const { inUse, closed } = await keepOpen((use) =>
    gates.withGate(
      {
        invocation,
        signal: over.signal,
        home,
        source,
        homeKeys,
        host: { sharesUid: true },
        agentId: AGENT_ID,
        ways: ["hook"],
        layers: [terms.layer],
        isOwnQuestion: isHookQuestion,
      },
      use,
    ),
  );
  const openedMs = performance.now();
  return {
    gate: inUse.gate,
    log: inUse.log,
    taskOf: (each) => terms.remember(each),
    async attended() {
      while (inUse.attached() === 0 && performance.now() - openedMs < ATTEND_MS)
        await wait(LOOK_EVERY_MS);
    },
    async [Symbol.asyncDispose]() {
      over.abort(new Error("the hook's gate closes"));
      await closed();
    },
  };
}

/** Turns what lasts as long as a callback into what is closed by hand. */
async function keepOpen(
  open: (use: (inUse: GateInUse) => Promise<void>) => Promise<void>,
): Promise<{ readonly inUse: GateInUse; readonly closed: () => Promise<void> }> {
  let close = (): void => undefined;
  const told = new Promise<void>((resolve) => (close = resolve));
  let whole: Promise<void> | undefined;
  const inUse = await new Promise<GateInUse>((resolve, reject) => {
    whole = open((given) => {
      resolve(given);
      return told;
    });
    whole.catch(reject);
  });
  return {
    inUse,
    async closed() {
      close();
      await whole;
    },
  };
}

/** Begins the task of every call of a hook. */
const TASK = "exec-terms:";

/** Whether a hook asked it. */
export function isHookQuestion({ context }: PendingRecord): boolean {
  return context?.task?.startsWith(TASK) === true;
}

interface TermsLayer {
  readonly layer: Layer;
  remember(terms: HookTerms): string;
}

/**
 * One layer for every profile and project: the task of a call names its terms, also when it is
 * judged again.
 */
function createTermsLayer(): TermsLayer {
  const layers = new Map<string, Layer>();
  return {
    remember(terms) {
      const task = `${TASK}${createHash("sha256").update(JSON.stringify(terms)).digest("hex")}`;
      const layer = layers.get(task) ?? layerOf(terms);
      layers.delete(task);
      layers.set(task, layer);
      const [oldest] = layers.keys();
      if (layers.size > TERMS_MAX && oldest !== undefined) layers.delete(oldest);
      return task;
    },
    layer: {
      name: "exec",
      judge(action, facts): Ruling | undefined {
        const layer = facts.task === undefined ? undefined : layers.get(facts.task);
        if (layer !== undefined) return layer.judge(action, facts);
        return {
          effect: "deny",
          ruleId: "exec.terms-unknown",
          reason: "the profile that judges it is no longer known",
        };
      },
    },
  };
}

function layerOf({ config, isTimed, projectRoot }: HookTerms): Layer {
  const layer = execSafety(config, projectRoot === undefined ? {} : { projectRoot });
  if (isTimed) return layer;
  return {
    name: layer.name,
    judge(action, facts) {
      const ruling = layer.judge(action, facts);
      return ruling?.ask === undefined ? ruling : { ...ruling, ask: {} };
    },
  };
}
