/**
 * Reviewing pins: what is held back, and what a person decides about it. A decision is about the
 * very text that was shown: where the server has presented another one since, nothing is decided.
 */
import type { FileToolPins, ServerPins, ToolPin } from "@acp/home";
import { keyOf } from "./judge-presented.js";

/** One text that waits for a person, or that a person wants to see. */
export interface HeldText {
  readonly id: string;
  readonly server: string;
  readonly pin: ToolPin;
  /** What was pinned, as canonical JSON; `undefined` where it was not kept. */
  readonly before: string | undefined;
  /** What is presented instead; `undefined` where it was not kept, or nothing else is presented. */
  readonly after: string | undefined;
}

/** Which texts are wanted. */
export interface HeldFilter {
  readonly server?: string | undefined;
  /** With it, also what was refused and what never changed. */
  readonly tool?: string | undefined;
}

/** What is held back, or named. */
export async function heldTexts(
  pins: FileToolPins,
  { server, tool }: HeldFilter,
): Promise<readonly HeldText[]> {
  const held: HeldText[] = [];
  for (const each of await pins.read()) {
    if (server !== undefined && each.server !== server) continue;
    const wanted = each.pins.filter((pin) =>
      tool === undefined ? waits(pin) : pin.kind !== "instructions" && pin.name === tool,
    );
    if (wanted.length === 0) continue;
    const texts = await pins.texts(each.id);
    for (const pin of wanted)
      held.push({
        id: each.id,
        server: each.server,
        pin,
        before: texts.get(pin.pin),
        after: pin.found === undefined ? undefined : texts.get(pin.found),
      });
  }
  return held;
}

/** Whether it changed, and nobody has refused the change. */
const waits = ({ found, refused }: ToolPin): boolean => found !== undefined && found !== refused;

/** What a person decides. */
export type Decided = "accepted" | "refused";

/**
 * Decides about a text that was shown. False where it is not what is presented any more.
 *
 * @param shown - The hash of what the person saw: what is presented, or what is pinned where
 *   nothing else is.
 */
export function decideHeld(
  pins: FileToolPins,
  { id, pin: { kind, name } }: Pick<HeldText, "id" | "pin">,
  how: { readonly decided: Decided; readonly shown: string; readonly nowMs: number },
): Promise<boolean> {
  return pins.change((servers) => {
    const own = servers.find((each) => each.id === id);
    const pin = own?.pins.find((each) => keyOf(each) === keyOf({ kind, name }));
    if (own === undefined || pin === undefined || (pin.found ?? pin.pin) !== how.shown)
      return { answer: false };
    // Somebody else accepted it meanwhile: refusing what is pinned would be said and do nothing.
    if (how.decided === "refused" && pin.found === undefined) return { answer: false };
    return {
      answer: true,
      next: servers.map((each) => (each === own ? decide(own, pin, how) : each)),
    };
  });
}

function decide(
  own: ServerPins,
  pin: ToolPin,
  {
    decided,
    shown,
    nowMs,
  }: { readonly decided: Decided; readonly shown: string; readonly nowMs: number },
): ServerPins {
  const { kind, name } = pin;
  const next: ToolPin =
    decided === "accepted"
      ? { kind, name, pin: shown, atMs: nowMs, by: "person" }
      : { ...pin, refused: shown };
  return { ...own, pins: own.pins.map((each) => (each === pin ? next : each)) };
}
