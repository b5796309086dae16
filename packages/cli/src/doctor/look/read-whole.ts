/**
 * Read whole: files of the home that count as a whole or not at all, such as passkeys, pins and keys. One
 * that cannot be read is set aside, and what it had begins again.
 */
import { asError } from "@acp/core";
import { readPrivateFile } from "@acp/home";
import type { DoctorContext } from "../context.js";
import type { FindingCode } from "../codes.js";
import { makeFound } from "../finding.js";
import type { Found } from "../finding.js";
import { setAside } from "../mend/set-aside.js";
import { isPrivateFile } from "./private.js";

/** One such file. */
export interface WholeFile {
  readonly path: string;
  readonly bytesMax: number;
  /** The finding where it cannot be read. */
  readonly code: FindingCode;
  /** What begins again without it, as the end of a sentence. */
  readonly without: string;
  /** What else is wrong with its text. @throws Error where it cannot be read. */
  parse(text: string): readonly Found[] | Promise<readonly Found[]>;
}

/** What is wrong with it. */
export async function readWhole(
  { home }: Pick<DoctorContext, "home">,
  { path, bytesMax, code, without, parse }: WholeFile,
): Promise<readonly Found[]> {
  // Modes and links are the examination of files' to say.
  if (!(await isPrivateFile(path))) return [];
  try {
    // The text alone: what seals it may be broken, and is looked at by itself.
    return await parse(await readPrivateFile(path, bytesMax));
  } catch (error) {
    const { message: found } = asError(error);
    const mend = {
      what: `set ${path} aside; ${without}`,
      note: "before",
      run: () => setAside(home, path),
    } as const;
    return [makeFound(code, { path, found, mend })];
  }
}
