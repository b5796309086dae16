/**
 * Relative links in Markdown lead to files that exist.
 */
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { gitFiles } from "../workspace.mjs";
import type { Check } from "./check.js";

/** Targets of links and images, without addresses, anchors of the same page and what stands in code. */
function targetsOf(text: string): readonly string[] {
  const prose = text.replaceAll(/^(```|~~~)[\s\S]*?^\1/gm, "").replaceAll(/`[^`\n]*`/g, "");
  const targets = [...prose.matchAll(/\]\(\s*<?([^)\s>]+)/g)].map(([, target]) => target ?? "");
  return targets.filter((target) => !/^([a-z]+:|#)/.test(target)).map((target) => decodeURIComponent(target.replace(/#.*$/, "")));
}

export const links: Check = {
  name: "links",
  remedy: "Mend the link or write the page it leads to",
  run({ root }) {
    const files = gitFiles(root).filter((file) => file.endsWith(".md"));
    return {
      problems: files.flatMap((file) =>
        targetsOf(readFileSync(join(root, file), "utf8"))
          .filter((target) => !existsSync(join(root, target.startsWith("/") ? "." : dirname(file), target)))
          .map((target) => `${file}: leads to "${target}", which does not exist`),
      ),
    };
  },
};
