/** The pages of the programming interface: one for each entry of a package that has types. */
import { join } from "node:path";
import { packages } from "../workspace.mjs";

/** An entry of a package. */
export interface ApiPage {
  /** What a program imports, such as `@acp/core/policy`. */
  readonly name: string;
  /** The same as a file name, such as `core-policy`. */
  readonly slug: string;
  /** Its built declarations: what programs see. */
  readonly types: string;
}

/** Every entry of every package that has types, main entries first. */
export function apiPages(root: string): readonly ApiPage[] {
  return packages(root).flatMap(({ folder, dir, manifest }) =>
    Object.entries(manifest.exports ?? {}).flatMap(([subpath, target]) => {
      const types = typeof target === "string" ? undefined : target["types"];
      const slug = [folder, ...subpath.split("/").slice(1)].join("-");
      return types === undefined
        ? []
        : [{ name: `${manifest.name}${subpath.slice(1)}`, slug, types: join(dir, types) }];
    }),
  );
}

/** Where the page of an entry stands in the site. */
export const apiPlace = ({ slug }: ApiPage): string => `reference/api/${slug}.md`;

/** The page that leads to all of them, and to what each package says of itself. */
export function apiIndex(pages: readonly ApiPage[]): string {
  return [
    "# Programming interface",
    "",
    "Every entry of every package, made from the comments in the code.",
    "",
    ...pages.map(({ name, slug }) => {
      const isMain = name === `@acp/${slug}`;
      return `- [${name}](${slug}.md)${isMain ? `: [about the package](../packages/${slug}.md)` : ""}`;
    }),
    "",
  ].join("\n");
}
