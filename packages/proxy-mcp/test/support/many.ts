/** Two or more scripted servers behind one proxy. */
import type { McpProxyOptions } from "../../src/index.js";
import type { Message } from "./line-client.js";
import { ALLOW_ALL, type Proxied, proxied, scripted } from "./proxied.js";

export const server = (
  name: string,
  options: object = {},
): { readonly name: string; readonly command: readonly string[] } => ({
  name,
  command: scripted({ name, ...options }),
});

export function two(policy: object = ALLOW_ALL, more: Partial<McpProxyOptions> = {}): Proxied {
  return proxied({ policy, upstreams: [server("one"), server("two")], ...more });
}

export function text({ result }: Message): string {
  return ((result ?? {}).content as readonly { text: string }[])[0]?.text ?? "";
}

/** The lines that one of the servers received. */
export async function received(p: Proxied, name: string): Promise<readonly Message[]> {
  const answer = await p.client.call(
    `received-${name}-${p.client.lines.length}`,
    `${name}__received`,
  );
  return (JSON.parse(text(answer)) as string[]).map((line) => JSON.parse(line) as Message);
}

export function names({ result }: Message): readonly string[] {
  return ((result ?? {}).tools as readonly { name: string }[]).map(({ name }) => name);
}
