/**
 * Addresses: what kind of IP address this is, as far as who may be reached is concerned. What is
 * not known to be public is not; IPv4 inside IPv6 is refused, not unpacked. Pure. Sources: the IANA
 * special-purpose address registries; spec/action.md §3. Vectors: spec/vectors/addresses.json.
 */

/**
 * What kind of network an IP address is in. `refused` is for addresses that no server has
 * (link-local with cloud metadata, multicast, reserved, translated, unspecified) and for texts that
 * are not an address.
 */
export type AddressKind = "public" | "loopback" | "private" | "refused";

/** An address as its 16-bit groups: two of IPv4, eight of IPv6. */
type Groups = readonly number[];

/** A block of addresses: its first one, and how many bits of it count. */
interface Block {
  readonly groups: Groups;
  readonly bits: number;
}

const OCTET = /^(?:0|[1-9][0-9]{0,2})$/;
const GROUP = /^[0-9A-Fa-f]{1,4}$/;
const GROUPS_OF_V6 = 8;

function readV4(text: string): Groups | undefined {
  const octets = text.split(".");
  if (octets.length !== 4 || !octets.every((octet) => OCTET.test(octet) && Number(octet) <= 255))
    return undefined;
  const [a = 0, b = 0, c = 0, d = 0] = octets.map(Number);
  return [(a << 8) | b, (c << 8) | d];
}

/** Groups between colons; the last may be an IPv4 address. */
function readGroups(text: string): number[] | undefined {
  if (text === "") return [];
  const parts = text.split(":");
  const last = readV4(parts.at(-1) ?? "");
  const hex = last === undefined ? parts : parts.slice(0, -1);
  return hex.every((part) => GROUP.test(part))
    ? [...hex.map((part) => Number.parseInt(part, 16)), ...(last ?? [])]
    : undefined;
}

function readV6(text: string): Groups | undefined {
  const [head = "", tail, ...more] = text.split("::");
  const before = readGroups(head);
  if (before === undefined || more.length > 0) return undefined;
  if (tail === undefined) return before.length === GROUPS_OF_V6 ? before : undefined;
  const after = readGroups(tail);
  // An IPv4 address ends the text: "1.2.3.4::" is none.
  if (after === undefined || head.includes(".") || before.length + after.length >= GROUPS_OF_V6)
    return undefined;
  return [
    ...before,
    ...Array.from({ length: GROUPS_OF_V6 - before.length - after.length }, () => 0),
    ...after,
  ];
}

const readAddress = (text: string): Groups | undefined =>
  text.includes(":") ? readV6(text) : readV4(text);

function blocks(...texts: readonly string[]): readonly Block[] {
  return texts.map((text) => {
    const [address = "", bits = ""] = text.split("/");
    return { groups: readAddress(address) ?? [], bits: Number(bits) };
  });
}

function isIn(address: Groups, { groups, bits }: Block): boolean {
  let left = bits;
  for (const [index, group] of groups.entries()) {
    if (left <= 0) return true;
    const mask = left >= 16 ? 0xff_ff : (0xff_ff << (16 - left)) & 0xff_ff;
    if (((address[index] ?? 0) & mask) !== (group & mask)) return false;
    left -= 16;
  }
  return true;
}

/** Where cloud machines are told who they are, on addresses that look private or public. */
const METADATA_V4 = ["100.100.100.200/32", "168.63.129.16/32"] as const;
const METADATA_V6 = ["fd00:ec2::254/128"] as const;

const V4 = {
  refused: blocks(
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
  ),
  loopback: blocks("127.0.0.0/8"),
  private: blocks("10.0.0.0/8", "100.64.0.0/10", "172.16.0.0/12", "192.168.0.0/16"),
  public: blocks("0.0.0.0/0"),
} as const;

const V6 = {
  refused: blocks(
    ...METADATA_V6,
    "2001::/23",
    "2001:db8::/32",
    "2002::/16",
    "2620:4f:8000::/48",
    "3fff::/20",
  ),
  loopback: blocks("::1/128"),
  private: blocks("fc00::/7"),
  /**
   * The only part of IPv6 that is handed out; the rest holds mapped, translated, link-local,
   * multicast and unassigned addresses.
   */
  public: blocks("2000::/3"),
} as const;

/**
 * What kind of address this is.
 *
 * @param address - As a resolver gives it: four decimal numbers, or IPv6 without brackets. Anything
 *   else, also one with a zone, is `refused`.
 */
export function addressKind(address: string): AddressKind {
  const groups = typeof address === "string" ? readAddress(address) : undefined;
  if (groups === undefined) return "refused";
  const kinds = groups.length === GROUPS_OF_V6 ? V6 : V4;
  const within = (list: readonly Block[]): boolean => list.some((block) => isIn(groups, block));
  if (within(kinds.refused)) return "refused";
  if (within(kinds.loopback)) return "loopback";
  if (within(kinds.private)) return "private";
  return within(kinds.public) ? "public" : "refused";
}
