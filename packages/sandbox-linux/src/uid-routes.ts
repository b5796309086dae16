/**
 * UID routes: a second lock on the same door, in another part of the kernel: no route off this host
 * for a uid. It holds for the moments between another program's flush of nftables and the end of
 * the agent; no report counts on it. Rules of S1 §2.2 stay with nftables: routes know no ports.
 */
import { optionalTool, runTool } from "./tools.js";

/** After the host's own addresses (0), before everything that leads away. */
const PREFERENCE = "10";
const FAMILIES = ["-4", "-6"] as const;
const COPIES_MAX = 16;

/** Takes the routes away from a uid, as far as the host has `ip` and knows rules on uids. */
export async function closeRoutes(uid: number): Promise<void> {
  await Promise.all(FAMILIES.map((family) => ip(family, "add", uid)));
}

/** Gives them back; leftovers of managers that are gone as well. */
export async function openRoutes(uid: number): Promise<void> {
  await Promise.all(
    FAMILIES.map(async (family) => {
      for (let copy = 0; copy < COPIES_MAX && (await ip(family, "del", uid)); copy += 1);
    }),
  );
}

async function ip(
  family: (typeof FAMILIES)[number],
  verb: "add" | "del",
  uid: number,
): Promise<boolean> {
  const tool = optionalTool("ip");
  if (tool === undefined) return false;
  const args = [family, "rule", verb, "pref", PREFERENCE, "uidrange", `${uid}-${uid}`, "prohibit"];
  const { code } = await runTool([tool, ...args]);
  return code === 0;
}
