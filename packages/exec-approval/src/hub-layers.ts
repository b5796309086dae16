/**
 * HubLayers: the exec layers of a hub's two gates, made anew when the configuration changes. The
 * configuration is read once per judgement.
 */
import type { Layer, Ruling } from "@acp/core";
import {
  type ExecApprovalConfig,
  execFallback,
  execSafety,
  type ExecSafetyOptions,
} from "@acp/core/exec";

/** What both layers judge by. */
export interface JudgeTerms {
  /** @throws Anything means that the configuration does not load: the gate denies. */
  readonly read: () => ExecApprovalConfig;
  readonly safety: ExecSafetyOptions;
}

function inForce(
  name: string,
  read: JudgeTerms["read"],
  make: (config: ExecApprovalConfig) => Layer["judge"],
): Layer {
  let last: { readonly config: ExecApprovalConfig; readonly judge: Layer["judge"] } | undefined;
  return {
    name,
    judge(action, facts): Ruling | undefined {
      const config = read();
      if (last?.config !== config) last = { config, judge: make(config) };
      return last.judge(action, facts);
    },
  };
}

/** Judges while a person can be asked. */
export function askingLayer({ read, safety }: JudgeTerms): Layer {
  return inForce("exec", read, (config) => {
    const layer = execSafety(config, safety);
    return (action, facts) => layer.judge(action, facts);
  });
}

/**
 * Judges after nobody answered, by `askFallback`; says so in every word, and names the option that
 * lets silence allow.
 */
export function fallbackLayer({ read, safety }: JudgeTerms): Layer {
  return inForce("exec-fallback", read, (config) => {
    const { askFallback } = config;
    const layer = execFallback(config, safety);
    const option = askFallback === "full" ? " beside dangerouslyAllowOnTimeout" : "";
    return (action, facts) => {
      const ruling = layer.judge(action, facts);
      if (ruling === undefined) return undefined;
      const reason = `nobody answered in time, and askFallback is "${askFallback}"${option}: ${ruling.reason}`;
      return { ...ruling, ruleId: `exec.fallback-${askFallback}`, reason };
    };
  });
}
