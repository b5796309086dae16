/** Where the docs site is laid out and built. */
import { root } from "../workspace.mjs";

/** The repository. */
export const ROOT = root;
/** The pages that VitePress reads: laid out anew by each build. */
export const PAGES = `${root}/docs/temp/site`;
/** The finished site. */
export const OUT = `${root}/docs/dist`;
