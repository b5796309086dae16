/**
 * What the scripted server received, which it tells when it is asked.
 */
import type { Proxied } from "./proxied.js";

/** Every line that reached the server of a single-server proxy, oldest first. */
export async function received({ client }: Proxied): Promise<readonly string[]> {
  const { result } = await client.request(`received-${client.lines.length}`, "ping", {
    received: true,
  });
  return result?.received as readonly string[];
}
