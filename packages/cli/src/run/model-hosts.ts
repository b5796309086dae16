/**
 * Model hosts: where an agent's own model answers, as far as its name and the variables that it is
 * given tell. Data, and who reads it.
 */
import { basename } from "node:path";
import { ConsentError, httpAction, type HttpAction, isConsentError } from "@acp/core";
import type { Io } from "../command.js";
import type { RunPlan } from "./plan.js";

/** What tells the hosts. */
export interface ModelHostParts {
  readonly plan: Pick<RunPlan, "argv" | "env" | "modelHosts">;
  readonly io: Pick<Io, "env">;
}

/** Coding agents that log in by themselves, by the name of their program. */
const BY_PROGRAM: ReadonlyMap<string, string> = new Map([
  ["claude", "api.anthropic.com"],
  ["codex", "chatgpt.com"],
  ["gemini", "cloudcode-pa.googleapis.com"],
]);

/** A key, the variable that says another address, and the host without one. */
const BY_VARIABLE: readonly (readonly [key: string, address: string, host: string])[] = [
  ["ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "api.anthropic.com"],
  ["ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL", "api.anthropic.com"],
  ["OPENAI_API_KEY", "OPENAI_BASE_URL", "api.openai.com"],
  ["GEMINI_API_KEY", "GOOGLE_GEMINI_BASE_URL", "generativelanguage.googleapis.com"],
  ["GOOGLE_API_KEY", "GOOGLE_GEMINI_BASE_URL", "generativelanguage.googleapis.com"],
  ["MISTRAL_API_KEY", "MISTRAL_BASE_URL", "api.mistral.ai"],
  ["GROQ_API_KEY", "GROQ_BASE_URL", "api.groq.com"],
  ["DEEPSEEK_API_KEY", "DEEPSEEK_BASE_URL", "api.deepseek.com"],
  ["OPENROUTER_API_KEY", "OPENROUTER_BASE_URL", "openrouter.ai"],
  ["XAI_API_KEY", "XAI_BASE_URL", "api.x.ai"],
];

const HOSTS_MAX = 4;
const HTTPS_PORT = "443";

/** The tunnels that a model needs, most of the time one. What nobody said is not guessed. */
export function modelTunnels({ plan, io }: ModelHostParts): readonly HttpAction[] {
  if (plan.modelHosts !== undefined) return plan.modelHosts.map(readModelHost);
  const given = (name: string): string | undefined =>
    plan.env.includes(name) ? io.env[name] : undefined;
  const named = BY_VARIABLE.flatMap(([key, address, host]) => {
    const other = given(address);
    if (other !== undefined) return hostOfAddress(other);
    return given(key) === undefined ? [] : [host];
  });
  const own = BY_PROGRAM.get(basename(plan.argv[0] ?? ""));
  const hosts = named.length > 0 || own === undefined ? [...new Set(named)] : [own];
  return hosts.slice(0, HOSTS_MAX).map(readModelHost);
}

/**
 * A tunnel to a host of the command line.
 *
 * @throws ConsentError `options_invalid`.
 */
export function readModelHost(text: string): HttpAction {
  try {
    return httpAction("CONNECT", /:\d+$/u.test(text) ? text : `${text}:${HTTPS_PORT}`, {
      headers: {},
    });
  } catch (error) {
    if (!isConsentError(error)) throw error;
    throw new ConsentError(
      "options_invalid",
      `Cannot read --model-host "${text}": ${error.message}; write api.example.com`,
      {
        cause: error,
      },
    );
  }
}

/** Only https goes through a tunnel: other requests are judged one by one. */
function hostOfAddress(address: string): readonly string[] {
  const url = URL.parse(address);
  return url === null || url.protocol !== "https:" || url.hostname === ""
    ? []
    : [`${url.hostname}:${url.port === "" ? HTTPS_PORT : url.port}`];
}
