/**
 * Judging what a server presents: what it is against its pins, and what the pins are afterwards.
 * Pure. Rules: spec/tool-pins.md §3.
 */
import type { ServerPins, ToolPin } from "@acp/home";
import type { PinState, PresentedText } from "@acp/proxy-mcp";

/** Pins of one server, but for those of its resources. */
export const PINS_MAX: number = 10_001;
/** Bytes of the pins of one server, as they are pinned: the file is for all of them. */
export const PINS_BYTES_MAX: number = 1024 * 1024;
/** Pins of its resources: lists of data must not take the room of its tools. */
export const RESOURCE_PINS_MAX: number = 1_000;
export const RESOURCE_PINS_BYTES_MAX: number = 256 * 1024;
/** A pin that nobody has looked at is new for so long: an agent could list again at once. */
const NEW_MS: number = 24 * 60 * 60 * 1_000;

/** Whose pins they are. */
export interface Presenter {
  readonly id: string;
  /** What the configuration calls it. */
  readonly server: string;
}

/** What follows. */
export interface Judged {
  /** One for each text, in their order. */
  readonly states: readonly PinState[];
  /** What was never seen before. */
  readonly added: readonly PresentedText[];
  /** What changed, and was not presented so before. */
  readonly changed: readonly PresentedText[];
  /** Resources that are not pinned, because there are too many: nobody sees a change of them. */
  readonly unpinned: number;
  /** The pins afterwards; `undefined` where they stay as they are. */
  readonly next: readonly ServerPins[] | undefined;
}

/** What is judged, and when. */
export interface Presented {
  readonly presented: readonly PresentedText[];
  readonly nowMs: number;
  /** False holds back what changed without a note of it: its server changes too often. */
  readonly isNoted?: boolean;
}

/** Judges the texts of one server. */
export function judgePresented(
  servers: readonly ServerPins[],
  { id, server }: Presenter,
  { presented, nowMs, isNoted = true }: Presented,
): Judged {
  const own = servers.find((each) => each.id === id);
  const pins = new Map((own?.pins ?? []).map((pin) => [keyOf(pin), pin]));
  const room = createRoom([...pins.values()]);
  const added: PresentedText[] = [];
  const changed: PresentedText[] = [];
  let unpinned = 0;
  const states = presented.map((text): PinState => {
    const pin = pins.get(keyOf(text));
    if (pin === undefined) {
      const { kind, name } = text;
      const first: ToolPin = { kind, name, pin: text.pin, atMs: nowMs, by: "first" };
      if (!room.take(first)) {
        // What cannot be remembered could change unseen. Of data that is said, and of tools refused.
        if (kind !== "resource") return "changed";
        unpinned += 1;
        return "new";
      }
      pins.set(keyOf(text), first);
      added.push(text);
      return "new";
    }
    if (pin.pin === text.pin) return isNew(pin, nowMs) ? "new" : "same";
    if (pin.found !== text.pin && isNoted) {
      pins.set(keyOf(text), { ...pin, found: text.pin });
      changed.push(text);
    }
    return "changed";
  });
  const judged = { states, added, changed, unpinned };
  if (added.length === 0 && changed.length === 0 && own?.server === server)
    return { ...judged, next: undefined };
  const next = { id, server, pins: [...pins.values()] };
  return { ...judged, next: [...servers.filter((each) => each.id !== id), next] };
}

interface Room {
  /** Whether there is room for another pin; takes it. */
  take(pin: ToolPin): boolean;
}

interface RoomShare {
  count: number;
  bytes: number;
  /** One was refused: of a long list the others are not even measured. */
  isFull: boolean;
}

/** What there is already is counted at the first new one. */
function createRoom(pins: readonly ToolPin[]): Room {
  const isData = ({ kind }: ToolPin): boolean => kind === "resource";
  const shareOf = (isOfData: boolean): RoomShare => {
    const own = pins.filter((pin) => isData(pin) === isOfData);
    return { count: own.length, bytes: bytesOf(own), isFull: false };
  };
  const shares = new Map<boolean, RoomShare>();
  return {
    take(pin) {
      const share = shares.get(isData(pin)) ?? shareOf(isData(pin));
      shares.set(isData(pin), share);
      if (share.isFull) return false;
      const [countMax, bytesMax] = isData(pin)
        ? [RESOURCE_PINS_MAX, RESOURCE_PINS_BYTES_MAX]
        : [PINS_MAX, PINS_BYTES_MAX];
      const bytes = share.bytes + bytesOf([pin]);
      share.isFull = share.count >= countMax || bytes > bytesMax;
      if (share.isFull) return false;
      share.count += 1;
      share.bytes = bytes;
      return true;
    },
  };
}

function bytesOf(pins: readonly ToolPin[]): number {
  return pins.reduce((sum, pin) => sum + Buffer.byteLength(JSON.stringify(pin)), 0);
}

/** What it is of, as one text. */
export const keyOf = ({ kind, name }: Pick<ToolPin, "kind" | "name">): string => `${kind} ${name}`;

/** A clock that was set back makes nothing older than it is. */
const isNew = ({ by, atMs }: ToolPin, nowMs: number): boolean =>
  by === "first" && nowMs - atMs < NEW_MS;
