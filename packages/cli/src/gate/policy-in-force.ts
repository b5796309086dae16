/**
 * The policy in force while `acp mcp` runs: the file's, as it changes; without a file, ask about
 * everything. Each text that comes into force is kept in the home, and the log names its hash.
 */
import { isConsentError, isoTime } from "@acp/core";
import { parsePolicy } from "@acp/core/policy";
import type { Policy } from "@acp/core";
import { watchPolicyFile } from "@acp/home";
import type { PolicyWatch } from "@acp/home";
import { onFile, placeError } from "../failure.js";
import { exists } from "../home/exists.js";
import { keepPolicy, policyHash } from "./kept-policies.js";
import type { Notices } from "./notices.js";

/** In force where there is no policy file. */
export const BUILT_IN_POLICY: Policy = parsePolicy({ version: "1", default: "ask" });

/** How often a missing file is looked for. */
const LOOK_EVERY_MS = 2_000;

/** Parts of the policy in force. */
export interface PolicyParts {
  readonly file: string;
  /** A file that the configuration names must be there; the home's own may come later. */
  readonly mustExist: boolean;
  /** The home's directory, where texts are kept. */
  readonly homeDir: string;
  /** Where `~` and relative paths start. */
  readonly home: string;
  readonly cwd: string;
  readonly notices: Notices;
  readonly signal: AbortSignal;
  /** Called after another policy came into force. */
  readonly onReload?: () => void;
}

/**
 * Opens the policy and follows its file until the signal aborts.
 *
 * @returns What is in force at the moment of the call.
 * @throws ConsentError `policy_invalid` or `home_invalid` where the file does not load at the
 *   start.
 */
export async function openPolicyInForce(parts: PolicyParts): Promise<() => Policy> {
  const { file, mustExist, notices } = parts;
  if (mustExist || (await exists(file))) {
    const watch = await follow(parts);
    await sayInForce(parts, watch, "is in force");
    return () => watch.current();
  }
  await notices.say(
    "policy_builtin",
    `The policy ${file} does not exist: you are asked about every call; acp init writes one`,
  );
  let watch: PolicyWatch | undefined;
  waitForFile(parts, (found) => {
    watch = found;
  });
  return () => watch?.current() ?? BUILT_IN_POLICY;
}

/**
 * Names a text that came into force in the log, at a start there alone, and keeps it. It is named
 * first, so that no decision by the new text comes before its name. A home that cannot keep it
 * explains less later, and decides as ever.
 */
async function sayInForce(
  { file, homeDir, notices }: PolicyParts,
  watch: Pick<PolicyWatch, "current" | "text">,
  what: "is in force" | "was reloaded" | "is there now and in force",
): Promise<void> {
  const { rules, defaultEffect } = watch.current();
  const text = watch.text();
  const said = `${file} ${what}: ${rules.length} rules, everything else: ${defaultEffect}`;
  const named = { policy: policyHash(text), file };
  if (what === "is in force") await notices.log("policy_loaded", said, named);
  else notices.tell("policy_reloaded", said, named);
  try {
    const { seenMs } = await keepPolicy(homeDir, text);
    if (seenMs !== undefined)
      notices.tell(
        "policy_seen_before",
        `${file}: this text was in force before, last from ${isoTime(Math.floor(seenMs))} on, and another one after it`,
      );
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    notices.tell("policy_warning", `${file}: its text is not kept for acp why: ${why}`);
  }
}

async function follow(parts: PolicyParts, isNew = false): Promise<PolicyWatch> {
  const { file, home, cwd, notices, signal } = parts;
  const warn = (policy: Policy): void => {
    for (const warning of policy.warnings) notices.tell("policy_warning", `${file}: ${warning}`);
  };
  const watch = await onFile(file, () =>
    watchPolicyFile(file, {
      home,
      cwd,
      signal,
      isNew,
      onReload(policy) {
        void sayInForce(parts, watch, "was reloaded");
        warn(policy);
        parts.onReload?.();
      },
      onError: (error) =>
        notices.tell(
          "policy_kept",
          `${placeError(error, file).message} [${error.code}]; the previous policy stays in force`,
        ),
    }),
  );
  warn(watch.current());
  return watch;
}

function waitForFile(parts: PolicyParts, found: (watch: PolicyWatch) => void): void {
  const { file, notices, signal } = parts;
  let reported = "";
  let looking = false;
  const look = async (): Promise<void> => {
    if (looking || !(await exists(file))) return;
    looking = true;
    try {
      const watch = await follow(parts, true);
      clearInterval(timer);
      found(watch);
      parts.onReload?.();
      await sayInForce(parts, watch, "is there now and in force");
    } catch (error) {
      const text = isConsentError(error) ? error.message : String(error);
      if (text !== reported) notices.tell("policy_kept", `${text}; every call is asked about`);
      reported = text;
    } finally {
      looking = false;
    }
  };
  const timer = setInterval(() => void look(), LOOK_EVERY_MS).unref();
  signal.addEventListener("abort", () => clearInterval(timer), { once: true });
}
