/** `acp move`: the home under another path, and what still names the old one. */
import { realpath } from "node:fs/promises";
import { join, relative, resolve } from "node:path";
import { asError, ConsentError, escapeText, quoteText, systemClock } from "@acp/core";
import { moveHome } from "../backup/move-home.js";
import type { Moved } from "../backup/move-home.js";
import { settleSwap } from "../backup/swap.js";
import { linesWith, readClientFiles } from "../clients/client-files.js";
import type { ClientFiles, NamedAt } from "../clients/client-files.js";
import type { Invocation, Run } from "../command.js";
import { homeOf, ownHomePath } from "../home/home-source.js";
import { createPercent } from "../percent.js";
import { readInput } from "../input.js";
import { saySettled } from "./restore.js";
import { removeServiceOf } from "./service.js";

const CONFIG_BYTES_MAX: number = 1024 * 1024;
/** In the home, what may name paths of it. */
const NAMING: readonly string[] = ["config.yml", "policy.yml"];

/** Runs the command. */
export const move: Run = async (invocation) => {
  const { io, operands, print } = invocation;
  const [to = ""] = operands;
  if (to === "")
    throw new ConsentError("options_invalid", "Cannot continue: name the new place, acp move DIR");
  const settled = await settleSwap(ownHomePath(invocation));
  if (settled !== undefined) return saySettled(settled, invocation);
  const { dir } = await homeOf(invocation);
  const real = await realpath(dir);
  const percent = createPercent(invocation);
  const moved = await moveHome({
    from: dir,
    to: resolve(io.cwd, to),
    nowMs: systemClock.now(),
    onProgress: percent.show,
  }).finally(percent.clear);
  // At the next login it would make a new, empty home in the old place.
  const service = await removeServiceOf(invocation, real).catch((error: unknown) => asError(error));
  const clients = await readClientFiles(io);
  const named = await namedIn(dir, moved, { invocation, clients });
  const isDefault = dir === join(io.userHome, ".acp");
  // Whoever names no home means ~/.acp.
  const unnamed = isDefault ? linesWith(clients.files, ["acp", "acp.cjs"]) : [];
  const removed = service instanceof Error ? undefined : service?.path;
  const json = { ...moved, from: dir, named, unnamed, unread: clients.unread };
  print.result({ ...json, service_removed: removed ?? null }, () => [
    `${print.tone("green", "moved")} ${escapeText(dir)} to ${escapeText(moved.home)}`,
    ...(moved.kept === undefined
      ? []
      : [
          `The files were copied. The old home is now ${escapeText(moved.kept)}; remove it when the new one works`,
        ]),
    ...(service instanceof Error ? [escapeText(service.message)] : []),
    ...(removed === undefined
      ? []
      : [
          `${escapeText(removed)} started the old home at each login and was removed; for the new one run: acp service install --home ${quoteText(moved.home)}`,
        ]),
    ...named.map((each) => `${place(each)} names the old path; change it yourself`),
    ...unnamed.map((each) => `${place(each)} starts acp; give it --home ${quoteText(moved.home)}`),
    ...clients.unread.map(({ path, why }) => escapeText(`${path} cannot be read: ${why}`)),
    ...(isDefault || io.env["ACP_HOME"] === dir
      ? [`Set ACP_HOME=${escapeText(moved.home)} where you run acp, or give it --home`]
      : []),
  ]);
  return "ok";
};

const place = ({ file, line }: NamedAt): string => `${escapeText(file)}:${line}`;

/** Lines that name the old path. */
async function namedIn(
  dir: string,
  { home }: Moved,
  {
    invocation: { io },
    clients,
  }: { readonly invocation: Invocation; readonly clients: ClientFiles },
): Promise<readonly NamedAt[]> {
  const below = relative(io.userHome, dir);
  const words = [dir, ...(below.startsWith("..") ? [] : [`~/${below}`, `$HOME/${below}`])];
  const own = await Promise.all(
    NAMING.map(async (name) => {
      const path = join(home, name);
      const options = { what: name, bytesMax: CONFIG_BYTES_MAX };
      return { path, text: await readInput(path, io, options).catch(() => "") };
    }),
  );
  return linesWith([...own, ...clients.files], words);
}
