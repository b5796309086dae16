/** The Vault of a gate: secrets from wherever they are kept, into a Release and nowhere else. */
import { labelKind } from "../copies.js";
import { injectSecrets } from "./inject.js";
import type { Vault } from "../ports.js";
import type { Secret } from "./secret.js";

/**
 * The secrets of a vault, or a function that reads them for each release. A frozen list that stays
 * the same is prepared for masking once.
 */
export type SecretList = readonly Secret[] | (() => readonly Secret[] | Promise<readonly Secret[]>);

/**
 * Makes a gate's Vault over a list of secrets. Results of every release are masked for all of them,
 * even where none was injected: what one call stored, another could read back.
 *
 * @example
 * ```ts
 * import { createConsentGate } from "@acp/core";
 * import { createVault, Secret } from "@acp/core/vault";
 *
 * const secrets = [new Secret({ name: "API_TOKEN", value: token, hosts: ["api.example.com"] })];
 * const gate = createConsentGate({ policy, channel, audit, vault: createVault(secrets) });
 * ```
 */
export function createVault(secrets: SecretList): Vault {
  const fixed = typeof secrets === "function" ? undefined : Object.freeze([...secrets]);
  const vault: Vault = {
    inject: async (release) =>
      injectSecrets(release, fixed ?? (typeof secrets === "function" ? await secrets() : secrets)),
  };
  labelKind(vault, "vault");
  return Object.freeze(vault);
}
