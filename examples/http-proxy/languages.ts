/**
 * Three programs that send a request, each in the way of its language. None of them knows of ACP.
 */
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

/** A way to send requests. It is an agent of its own to the proxy. */
export interface Language {
  /** The agent's id too. */
  readonly name: string;
  /** Left out where it is there. */
  readonly missing?: string;
  /** The program that sends one request and prints the status and the body. */
  command(method: string, url: string): readonly string[];
}

const at = (file: string): string => fileURLToPath(new URL(file, import.meta.url));
const has = (program: string): boolean =>
  spawnSync(program, ["--version"], { stdio: "ignore" }).status === 0;

/** All of them, also those that are not on this machine. */
export const LANGUAGES: readonly Language[] = [
  {
    name: "curl",
    ...(!has("curl") && { missing: "there is no curl here" }),
    command: (method, url) => {
      const body = method === "POST" ? ["-d", "item=umbrella"] : [];
      return ["curl", "-sS", "-X", method, ...body, "-w", "\n%{http_code}", url];
    },
  },
  {
    name: "node",
    // fetch does not read the environment; the preload makes it.
    command: (method, url) => [
      process.execPath,
      "--import",
      import.meta.resolve("@acp/proxy-http/fetch-patch"),
      at("agent.mjs"),
      method,
      url,
    ],
  },
  {
    name: "python",
    ...(!has("python3") && { missing: "there is no python3 here" }),
    command: (method, url) => ["python3", at("agent.py"), method, url],
  },
];
