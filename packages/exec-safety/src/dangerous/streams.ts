/**
 * Streams: what a command reads instead of its input, and the files it writes.
 */
import type { Redirect } from "../parse/tree.js";
import { isHidden, NOTHING, worse, type Feed } from "./feed.js";
import { readOne } from "./reading.js";
import { targetDanger } from "./rules/targets.js";
import { isSecretFile } from "./secret-file.js";
import { resolvePath } from "./site.js";
import { reportDanger, type Spot, type Search } from "./search.js";

/** What the redirections of one command make of its streams. */
export interface Redirected {
  readonly input: Feed;
  /** Absolute paths that its output goes to. */
  readonly files: readonly string[];
}

/**
 * What is redirected: a program by its name, nothing, or `""` for one that is not known and for
 * more than one command.
 */
interface Redirecting {
  readonly redirects: readonly Redirect[];
  readonly program: string | undefined;
}

/** Reports dangerous targets and finds the input; the words of every redirection are read once. */
export function readRedirects(
  search: Search,
  spot: Spot,
  { redirects, program }: Redirecting,
): Redirected {
  let { input } = spot;
  const files: string[] = [];
  for (const redirect of redirects) {
    const word = redirect.body ?? redirect.target;
    if (word === undefined) continue;
    const field = readOne(search, spot, word);
    const { operator, descriptor } = redirect;
    const isInput = descriptor === undefined || descriptor === 0;
    if (operator.startsWith("<<")) {
      if (isInput)
        input = {
          source: isHidden(field.lead) ? field.lead : "text",
          text: field.text,
          isSecret: field.isSecret,
        };
      continue;
    }
    if (/^\d+-?$|^-$/.test(field.text)) continue;
    const path = resolvePath(field.text, spot.shell.site);
    const danger = path === undefined ? undefined : targetDanger(path, spot.shell.site);
    const writes = operator.includes(">");
    const isSocket = danger?.ruleId === "network.raw-socket";
    if (danger !== undefined && (writes || isSocket) && !(isSocket && isProbe(program, path)))
      reportDanger(search, danger, redirect.span);
    if (writes && path !== undefined && (descriptor === undefined || descriptor === 1))
      files.push(path);
    if (!writes && isInput) input = inputOf(spot, { field, path });
  }
  return { input, files };
}

const LOOPBACK = /^\/dev\/(?:tcp|udp)\/(?:localhost|127\.0\.0\.1|::1)\/\d{1,5}$/;
/** Programs that hand no shell and no file over. */
const PROBES: ReadonlySet<string | undefined> = new Set([undefined, "echo", ":", "true"]);

/** `echo > /dev/tcp/localhost/5432`: whether something listens on this machine. */
function isProbe(program: string | undefined, path: string | undefined): boolean {
  return PROBES.has(program) && LOOPBACK.test(path ?? "");
}

function inputOf(
  spot: Spot,
  {
    field,
    path,
  }: { readonly field: ReturnType<typeof readOne>; readonly path: string | undefined },
): Feed {
  if (field.stream !== undefined) return { ...field.stream, isPiped: false };
  const known = path === undefined ? undefined : spot.shell.files.get(path);
  return known ?? { source: "file", isSecret: path !== undefined && isSecretFile(path) };
}

/** Remembers what is in the files that a command wrote, so that running one of them is seen. */
export function keepFiles({ shell }: Spot, files: readonly string[], output: Feed): Feed {
  if (files.length === 0) return output;
  for (const path of files) {
    const before = shell.files.get(path);
    shell.files.set(
      path,
      before === undefined
        ? { ...output, isPiped: false }
        : { source: worse(before.source, output.source) },
    );
  }
  return NOTHING;
}
