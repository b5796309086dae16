/**
 * HubRewrite: a command that may run unasked once it leaves out secrets is decided, shown and run
 * in that form. The text that runs is the text that was judged; the log says what the agent wrote.
 */
import {
  type ConsentGate,
  type Denied,
  type GateContext,
  isShellAction,
  type Layer,
  quoteText,
  type ShellAction,
} from "@acp/core";
import { evaluateShellAction, type CommandRewrite } from "@acp/core/exec";
import type { PreparedCommand } from "./hub-command.js";
import type { JudgeTerms } from "./hub-layers.js";

/** What the texts that were put in an agent's place were made of, by text. */
export type RewriteOrigins = Map<string, { readonly command: string; readonly reason: string }>;

/** What rewriting needs. */
export interface RewriteParts {
  readonly gate: Pick<ConsentGate, "evaluate">;
  readonly judging: JudgeTerms;
  readonly origins: RewriteOrigins;
}

const ORIGINS_MAX = 64;
const EXEC = "exec";

/**
 * The command to decide about: the given one, or the one in its place that nobody has to be asked
 * about. INVARIANT: what a rule or a layer says about the agent's own text stands; only the exec
 * layer's question is answered by leaving out secrets.
 */
export async function inItsPlace(
  { gate, judging, origins }: RewriteParts,
  given: PreparedCommand,
  {
    context,
    prepare,
  }: {
    readonly context: Omit<GateContext, "signal">;
    readonly prepare: (rewrite: CommandRewrite) => Promise<PreparedCommand | Denied>;
  },
): Promise<PreparedCommand> {
  const rewrite = rewriteOf(given.action, judging);
  if (rewrite === undefined) return given;
  const { ruling, rulings } = gate.evaluate(given.action, context);
  const isOthers = rulings.some(
    ({ layer, ruling: own }) => layer !== EXEC && own !== undefined && own.effect !== "allow",
  );
  if (isOthers || ruling.effect === "allow") return given;
  const made = await prepare(rewrite);
  if (!("action" in made) || gate.evaluate(made.action, context).ruling.effect !== "allow")
    return given;
  const [oldest] = origins.keys();
  if (origins.size >= ORIGINS_MAX && oldest !== undefined) origins.delete(oldest);
  origins.set(rewrite.command, { command: given.action.args, reason: rewrite.reason });
  return made;
}

/**
 * The text that is safe in place of an action's. A configuration that does not load rewrites
 * nothing: the gate denies, and says so.
 */
function rewriteOf(action: ShellAction, { read, safety }: JudgeTerms): CommandRewrite | undefined {
  try {
    return evaluateShellAction(action, read(), safety).rewrite;
  } catch {
    return undefined;
  }
}

/** The layer, which says of a text that was put in an agent's place what the agent wrote. */
export function tellingOrigin(layer: Layer, origins: RewriteOrigins): Layer {
  return {
    ...layer,
    judge: (action, facts) => {
      const ruling = layer.judge(action, facts);
      const origin = isShellAction(action) ? origins.get(action.args) : undefined;
      if (ruling === undefined || origin === undefined) return ruling;
      return {
        ...ruling,
        reason: `${ruling.reason}; it ${origin.reason}; the agent wrote ${quoteText(origin.command)}`,
      };
    },
  };
}
