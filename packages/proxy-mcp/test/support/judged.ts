/** A proxy with one scripted server, and a layer beside its policy. */
import type { Layer } from "@acp/core";
import { proxied } from "./proxied.js";
import type { Proxied } from "./proxied.js";

/** Denies what names a secret, as the guard of a home does. */
export const NO_SECRETS: Layer = {
  name: "secrets",
  judge: (action) =>
    JSON.stringify(action.args).includes("secret")
      ? { effect: "deny", ruleId: "secrets", reason: "it is a secret" }
      : undefined,
};

export async function opened(
  policy: object,
  more: Partial<Parameters<typeof proxied>[0]> = {},
): Promise<Proxied> {
  const p = proxied({ policy, ...more });
  await p.client.handshake();
  return p;
}
