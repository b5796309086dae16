/**
 * Git addresses: a remote's address may hold a token, and several commands print it. Where the next
 * program of a pipeline takes it out, or nobody sees it, nothing is asked.
 */
import type { Argument } from "../safe/argument.js";
import { HIDING_ADDRESSES } from "../safe/reach/output.js";
import { say } from "./judged-call.js";
import type { JudgedCall } from "./judged-call.js";
import type { Scan } from "./scan.js";

const WHY = "prints an address, in which a token may stand";
const REASON = "takes user names and tokens out of addresses; the exit status is that of sed";
/**
 * Settings that hold an address: `remote.origin.url`, `url.<address>.insteadOf`,
 * `http.<address>.proxy`.
 */
const ADDRESS = /url$|insteadof$|proxy$|^url\./i;

/** Reports a call of git that shows an address. */
export function checkAddresses(
  args: readonly Argument[],
  { given, operands }: Scan,
  of: JudgedCall,
): void {
  if (!of.isShown || of.hidesAddresses || !printsAddress(of.name, { given, operands })) return;
  const last = args.at(-1);
  const [at, behind] =
    last === undefined ? [of.span.end, of.name.split(" ").at(-1) ?? ""] : [last.span.end, last.raw];
  say(
    of,
    { topic: "secret", text: WHY },
    { ...of, edits: [{ at, behind, text: ` | ${HIDING_ADDRESSES}`, reason: REASON }] },
  );
}

function printsAddress(
  name: string,
  { given, operands }: Pick<Scan, "given" | "operands">,
): boolean {
  switch (name) {
    case "git remote":
      // Its only flag is `-v`.
      return given.size > 0;
    case "git remote get-url":
      return true;
    case "git remote show":
      return operands.length > 0;
    case "git config":
    case "git config get":
      return operands.some(
        ({ values }) =>
          values?.every(({ text, isGlob }) => !isGlob && !ADDRESS.test(text)) !== true,
      );
    default:
      return false;
  }
}
