/**
 * Memory size: what `--memory` takes. Written out strictly: a cap that was read otherwise than it
 * was meant holds nobody, or ends everybody.
 */
import { ConsentError } from "@acp/core";

/** Node, which checks the sandbox from inside, needs about half of it. */
const MIB_MIN = 256;
/** More than a machine has. */
const MIB_MAX = 16 * 1024 * 1024;
const MIB = 2 ** 20;

/**
 * Bytes of a size such as `512m` or `4g`.
 *
 * @throws ConsentError `options_invalid`, with the size that was probably meant.
 */
export function readMemorySize(text: string): number {
  const mebibytes = mebibytesOf(text);
  if (mebibytes === undefined) {
    const meant = /^([1-9][0-9]{0,7}) ?([mg])(?:i?b)?$/iu.exec(text);
    const suggestion = meant === null ? undefined : `${meant[1]}${meant[2]?.toLowerCase()}`;
    const options = suggestion === undefined ? {} : { suggestion };
    throw new ConsentError(
      "options_invalid",
      `Cannot read --memory "${text}": write a whole number and m or g, such as 512m or 4g`,
      options,
    );
  }
  if (mebibytes >= MIB_MIN && mebibytes <= MIB_MAX) return mebibytes * MIB;
  const bound =
    mebibytes < MIB_MIN
      ? `less than ${MIB_MIN}m, in which no sandbox starts`
      : "more than any machine has";
  throw new ConsentError("options_invalid", `Cannot use --memory ${text}: it is ${bound}`);
}

function mebibytesOf(text: string): number | undefined {
  const [, digits, unit] = /^([1-9][0-9]{0,7})([mg])$/u.exec(text) ?? [];
  return digits === undefined ? undefined : Number(digits) * (unit === "g" ? 1024 : 1);
}
