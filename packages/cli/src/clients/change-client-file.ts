/**
 * Change client file: writes a client's settings in one step, with its mode, through links, and
 * keeps the text from before beside it.
 */
import { randomBytes } from "node:crypto";
import { chmod, open, readFile, realpath, rename, stat, unlink } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { ConsentError, parseJson, quoteText } from "@acp/core";
import { syncDirectory } from "@acp/home";
import type { ClientFile } from "./client-files.js";
import { withoutAcp } from "./without-acp.js";
import type { Unwrapped } from "./without-acp.js";

/** What the name of a copy ends in. */
export type CopySuffix = "before-acp-uninstall" | "before-acp-wrap" | "before-acp-unwrap";

/** A file that names acp, with what would change in it. */
export interface ClientChange {
  readonly path: string;
  readonly before: string;
  readonly after: string;
  readonly changes: readonly Unwrapped[];
}

/** What would change in a file; `undefined` where it is no JSON that can be written again as it is. */
export function planChange({ path, text }: ClientFile): ClientChange | undefined {
  let value: ReturnType<typeof parseJson>;
  try {
    value = parseJson(text);
  } catch {
    return undefined;
  }
  const without = withoutAcp(value);
  const indent = /^\s*\{\r?\n([ \t]+)"/.exec(text)?.[1] ?? "  ";
  const after = `${JSON.stringify(without.value, undefined, indent)}\n`;
  return { path, before: text, after, changes: without.changes };
}

/**
 * Makes the change.
 *
 * @returns Where the text from before is.
 * @throws ConsentError `options_invalid` where the file changed since it was read, or cannot be
 *   written; it is as it was then.
 */
export async function changeClientFile(
  { path, before, after }: Pick<ClientChange, "path" | "before" | "after">,
  suffix: CopySuffix = "before-acp-uninstall",
): Promise<string> {
  try {
    const real = await realpath(path);
    if ((await readFile(real, "utf8")) !== before) throw new Error("it changed meanwhile");
    const mode = (await stat(real)).mode & 0o777;
    const copy = await keepCopy(`${real}.${suffix}`, before, mode);
    const temporary = join(
      dirname(real),
      `.${basename(real)}.${process.pid}.${randomBytes(4).toString("hex")}.tmp`,
    );
    try {
      await writeNew(temporary, after, mode);
      await rename(temporary, real);
    } catch (error) {
      await unlink(temporary).catch(() => {}); // there is none where it could not be made
      throw error;
    }
    await syncDirectory(dirname(real));
    return copy;
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new ConsentError("options_invalid", `Cannot change ${quoteText(path)}: ${why}`, {
      cause,
    });
  }
}

/** A copy that is there already serves. */
async function keepCopy(path: string, text: string, mode: number): Promise<string> {
  for (let number = 1; ; number++) {
    const copy = copyName(path, number);
    try {
      await writeNew(copy, text, mode);
      return copy;
    } catch (error) {
      if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
      if ((await readFile(copy, "utf8").catch(() => undefined)) === text) return copy;
    }
  }
}

const copyName = (path: string, number: number): string =>
  number === 1 ? path : `${path}-${number}`;

/** The texts that copies of a file have, the newest first, each with its copy's path. */
export async function earlierTexts(
  path: string,
  suffix: CopySuffix,
): Promise<readonly { readonly copy: string; readonly text: string }[]> {
  const real = await realpath(path);
  const found: { readonly copy: string; readonly text: string }[] = [];
  for (let number = 1; ; number++) {
    const copy = copyName(`${real}.${suffix}`, number);
    const text = await readFile(copy, "utf8").catch(() => undefined);
    if (text === undefined) return found.toReversed();
    found.push({ copy, text });
  }
}

async function writeNew(path: string, text: string, mode: number): Promise<void> {
  await using handle = await open(path, "wx", 0o600);
  await handle.writeFile(text);
  await handle.sync();
  await chmod(path, mode);
}
