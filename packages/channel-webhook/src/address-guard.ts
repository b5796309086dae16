/**
 * AddressGuard: which addresses a webhook may be sent to. What is not known to be public is not; embedded IPv4 addresses are refused, not unpacked.
 * Sources: the IANA special-purpose address registries; spec/webhook.md §5.
 */
import { BlockList, isIP } from "node:net";

/** `refused` is for addresses that no receiver has: link-local (cloud metadata), multicast, reserved, translated, unspecified. */
export type AddressKind = "public" | "loopback" | "private" | "refused";

type Family = "ipv4" | "ipv6";

function subnets(family: Family, list: readonly string[]): BlockList {
  const blocks = new BlockList();
  for (const subnet of list) {
    const [network = "", bits = ""] = subnet.split("/");
    blocks.addSubnet(network, Number(bits), family);
  }
  return blocks;
}

/** Where cloud machines are told who they are, on addresses that look private or public. */
const METADATA_V4 = ["100.100.100.200/32", "168.63.129.16/32"];
const METADATA_V6 = ["fd00:ec2::254/128"];

const V4 = {
  refused: subnets("ipv4", [
    ...METADATA_V4,
    "0.0.0.0/8",
    "169.254.0.0/16",
    "192.0.0.0/24",
    "192.0.2.0/24",
    "192.31.196.0/24",
    "192.52.193.0/24",
    "192.88.99.0/24",
    "192.175.48.0/24",
    "198.18.0.0/15",
    "198.51.100.0/24",
    "203.0.113.0/24",
    "224.0.0.0/4",
    "240.0.0.0/4",
  ]),
  loopback: subnets("ipv4", ["127.0.0.0/8"]),
  private: subnets("ipv4", ["10.0.0.0/8", "100.64.0.0/10", "172.16.0.0/12", "192.168.0.0/16"]),
};

const V6 = {
  refused: subnets("ipv6", [...METADATA_V6, "2001::/23", "2001:db8::/32", "2002::/16", "2620:4f:8000::/48", "3fff::/20"]),
  loopback: subnets("ipv6", ["::1/128"]),
  private: subnets("ipv6", ["fc00::/7"]),
  /** The only part of IPv6 that is handed out; the rest holds mapped, translated, link-local, multicast and unassigned addresses. */
  public: subnets("ipv6", ["2000::/3"]),
};

/** What kind of address this is; `refused` also for what is no address, and for one with a zone. */
export function addressKind(address: string): AddressKind {
  const version = isIP(address);
  if (version === 0 || address.includes("%")) return "refused";
  const family: Family = version === 4 ? "ipv4" : "ipv6";
  const { refused, loopback, private: inside } = version === 4 ? V4 : V6;
  if (refused.check(address, family)) return "refused";
  if (loopback.check(address, family)) return "loopback";
  if (inside.check(address, family)) return "private";
  return version === 4 || V6.public.check(address, family) ? "public" : "refused";
}
