/**
 * The reference of the programming interface, by TypeDoc: one page for each entry of a package,
 * from the declarations that programs see.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { Application } from "typedoc";
import type { DeclarationReflection } from "typedoc";
import { apiIndex, apiPages } from "../tools/site/api-pages.js";
import type { ApiPage } from "../tools/site/api-pages.js";
import { PAGES, ROOT } from "../tools/site/places.js";

const TABLE = "table";
const OPTIONS = {
  tsconfig: join(ROOT, "docs/tsconfig.json"),
  out: join(PAGES, "reference/api"),
  name: "Programming interface",
  readme: "none",
  logLevel: "Warn",
  // What each package exports is checked by the api report; here it is only shown.
  skipErrorChecking: true,
  disableSources: true,
  excludeExternals: true,
  excludeInternal: true,
  excludePrivate: true,
  router: "module",
  entryFileName: "index",
  hidePageHeader: true,
  hideBreadcrumbs: true,
  parametersFormat: TABLE,
  interfacePropertiesFormat: TABLE,
  typeDeclarationFormat: TABLE,
  useCustomAnchors: true,
} as const;

/** The entry whose declarations a module is. */
function pageOf(module: DeclarationReflection, pages: readonly ApiPage[]): ApiPage {
  const found = pages.find(
    ({ types }) =>
      types.endsWith(`/packages/${module.name}.d.ts`) ||
      types.endsWith(`/packages/${module.name}/index.d.ts`),
  );
  if (found === undefined)
    throw new Error(`Cannot name the page of ${module.name}: no package has such an entry`);
  return found;
}

/** Writes the pages. */
export async function writeApi(): Promise<void> {
  const pages = apiPages(ROOT);
  const app = await Application.bootstrapWithPlugins({
    ...OPTIONS,
    plugin: ["typedoc-plugin-markdown"],
    entryPoints: pages.map(({ types }) => types),
  });
  const project = await app.convert();
  if (project === undefined)
    throw new Error("Cannot write the reference of the programming interface: see the lines above");
  const titles = new Map<string, string>();
  for (const module of project.children ?? []) {
    const { name, slug } = pageOf(module, pages);
    titles.set(slug, name);
    module.name = slug;
  }
  const titleOf = ({ name }: { readonly name: string }): string => titles.get(name) ?? name;
  app.options.setValue("pageTitleTemplates", { module: titleOf });
  await app.generateOutputs(project);
  writeFileSync(join(OPTIONS.out, "index.md"), apiIndex(pages));
  if (app.logger.hasErrors())
    throw new Error("Cannot write the reference of the programming interface: see the lines above");
}
