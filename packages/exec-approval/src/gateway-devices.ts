/**
 * GatewayDevices: who may connect to a gateway, and who may talk to whom. A hub talks to its
 * clients and they to it; nobody else.
 */
import { timingSafeEqual } from "node:crypto";
import { ConsentError } from "@acp/core";
import { isDeviceId } from "./codec.js";
import { digestToken } from "./device-token.js";
import { GATEWAY_ID } from "./protocol.js";

/** A device that may connect: a hub, or a person's client. */
export type GatewayDevice = {
  /** Names the device in messages, and in `hubs` of other devices. */
  readonly id: string;
  /** As `hashDeviceToken` writes it. */
  readonly tokenHash: string;
} & (
  | { readonly role: "hub" }
  /** A person's client; it talks to these hubs. */
  | { readonly role: "client"; readonly hubs: readonly string[] }
);

/** The devices of a gateway. */
export interface GatewayDevices {
  readonly count: number;
  /**
   * The device whose token this is. Every device is compared with, so that the time says nothing.
   */
  authenticate(token: string): GatewayDevice | undefined;
  /** The devices that this one may talk to. */
  peersOf(id: string): ReadonlySet<string>;
}

const HASH = /^sha256:([0-9a-f]{64})$/;

function invalid(id: string, state: string): ConsentError {
  return new ConsentError(
    "options_invalid",
    `Cannot use the device ${JSON.stringify(id.slice(0, 128))}: ${state}`,
  );
}

/**
 * Checks a list of devices.
 *
 * @throws ConsentError `options_invalid`.
 */
export function readDevices(devices: readonly GatewayDevice[]): GatewayDevices {
  const known = new Map<
    string,
    { readonly device: GatewayDevice; readonly digest: Buffer; readonly peers: Set<string> }
  >();
  const hashes = new Set<string>();
  for (const device of devices) {
    const { id, tokenHash } = device;
    const hex = HASH.exec(tokenHash)?.[1];
    if (!isDeviceId(id)) throw invalid(id, "its id is not 1 to 128 visible ASCII characters");
    if (id === GATEWAY_ID) throw invalid(id, "this id is the gateway's own");
    if (known.has(id)) throw invalid(id, "it is listed twice");
    if (hex === undefined) throw invalid(id, 'its tokenHash is not "sha256:" and 64 hex digits');
    if (hashes.has(hex)) throw invalid(id, "another device has the same token");
    hashes.add(hex);
    known.set(id, { device, digest: Buffer.from(hex, "hex"), peers: new Set() });
  }
  for (const { device, peers } of known.values()) {
    if (device.role === "hub") continue;
    for (const id of device.hubs) {
      const hub = known.get(id);
      if (hub?.device.role !== "hub")
        throw invalid(device.id, `${JSON.stringify(id.slice(0, 128))} is not one of the hubs`);
      peers.add(id);
      hub.peers.add(device.id);
    }
  }
  const nobody: ReadonlySet<string> = new Set();
  return {
    count: known.size,
    authenticate(token) {
      const digest = digestToken(token);
      let found: GatewayDevice | undefined;
      for (const each of known.values())
        if (timingSafeEqual(each.digest, digest)) found = each.device;
      return found;
    },
    peersOf: (id) => known.get(id)?.peers ?? nobody,
  };
}
