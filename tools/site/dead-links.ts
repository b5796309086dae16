/** Links within the built site that lead to no page or to no anchor. Reads files only. */
import { existsSync, readFileSync, readdirSync, statSync } from "node:fs";
import { join, posix } from "node:path";

/** A page of the site as its readers get it. */
interface Html {
  readonly ids: ReadonlySet<string>;
  readonly hrefs: readonly string[];
}

const entity = (text: string): string =>
  text.replaceAll("&amp;", "&").replaceAll("&quot;", '"').replaceAll("&#39;", "'");

function readHtml(path: string): Html {
  const text = readFileSync(path, "utf8");
  const values = (name: string): readonly string[] =>
    [...text.matchAll(new RegExp(` ${name}="([^"]*)"`, "g"))].map(([, value = ""]) =>
      entity(value),
    );
  return { ids: new Set(values("id")), hrefs: [...new Set([...values("href"), ...values("src")])] };
}

/** The file that a path of the site shows. */
function fileOf(out: string, path: string): string | undefined {
  const candidates = [path, `${path}.html`, posix.join(path, "index.html")];
  return candidates.find(
    (each) => existsSync(join(out, each)) && statSync(join(out, each)).isFile(),
  );
}

/** One line for each link that leads nowhere. */
export function deadLinks(out: string): readonly string[] {
  const files = readdirSync(out, { recursive: true, encoding: "utf8" }).filter((file) =>
    file.endsWith(".html"),
  );
  const pages = new Map(files.map((file) => [file, readHtml(join(out, file))]));
  const isDead = (from: string, href: string): boolean => {
    if (/^[a-z][a-z+.-]*:|^\/\//i.test(href)) return false;
    const { pathname, hash } = new URL(href, `http://site/${from}`);
    const file = fileOf(out, decodeURIComponent(pathname).slice(1));
    if (file === undefined) return true;
    const ids = pages.get(file)?.ids;
    return hash !== "" && ids !== undefined && !ids.has(decodeURIComponent(hash.slice(1)));
  };
  return [...pages].flatMap(([from, { hrefs }]) =>
    hrefs.filter((href) => isDead(from, href)).map((href) => `${from}: leads to ${href}`),
  );
}
