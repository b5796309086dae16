/**
 * Keep written: files that a program writes because its arguments say so, and what is then in them.
 */
import { operandsOf, type Call } from "./call.js";
import { hasUnknown, type Feed } from "./feed.js";
import { targetDanger } from "./rules/targets.js";
import { isStdin } from "./shells.js";
import { resolvePath } from "./site.js";
import { reportDanger, type Spot, type Search } from "./search.js";
import { writtenBy } from "./writes.js";

const COPYING: ReadonlySet<string> = new Set(["cp", "mv", "install", "ln"]);
const FETCHING: ReadonlySet<string> = new Set(["curl", "wget", "aria2c"]);
const PRINTING: ReadonlySet<string> = new Set(["base64", "openssl", "gpg"]);

/** Reports dangerous targets of a call, and remembers what is in the files it writes. */
export function keepWritten(
  search: Search,
  { shell, input }: Spot,
  { call, output }: { readonly call: Call; readonly output: Feed },
): Feed {
  for (const field of writtenBy(call)) {
    if (isStdin(field.text) || hasUnknown(field.text.charAt(0))) continue;
    const danger = targetDanger(field.text, shell.site, COPYING.has(call.name));
    if (danger !== undefined) {
      reportDanger(search, danger, field.span);
      break;
    }
    const path = resolvePath(field.text, shell.site);
    const content = contentOf({ shell, input }, call, output);
    if (path !== undefined && content !== undefined) shell.files.set(path, content);
  }
  return output;
}

/** What a call puts into the file it writes. */
function contentOf({ shell, input }: Spot, call: Call, output: Feed): Feed | undefined {
  if (FETCHING.has(call.name)) return { source: "remote" };
  if (call.name === "tee" || call.name === "sponge") return { ...input, isPiped: false };
  if (PRINTING.has(call.name)) return output;
  if (!COPYING.has(call.name)) return undefined;
  const source = operandsOf(call)[0];
  const path = source === undefined ? undefined : resolvePath(source.text, shell.site);
  return path === undefined ? undefined : shell.files.get(path);
}
