/**
 * Files: the page's own files, from the package's `page/` folder, and nothing else. Read once; a
 * path names one of them or nothing.
 */
import { createHash } from "node:crypto";
import { readFile, readdir } from "node:fs/promises";
import { extname, join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { COMMON_HEADERS, refuse } from "./reply.js";

const FOLDER = fileURLToPath(new URL("../page/", import.meta.url));

const TYPES: Readonly<Partial<Record<string, string>>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".webmanifest": "application/manifest+json",
};

interface PageFile {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly type: string;
  readonly etag: string;
}

/** Serves the page's files. */
export interface Files {
  serve(request: Request, path: string): Promise<Response>;
}

async function read(folder: string): Promise<ReadonlyMap<string, PageFile>> {
  const files = new Map<string, PageFile>();
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const type = TYPES[extname(entry.name)];
    if (!entry.isFile() || type === undefined) continue;
    const path = join(entry.parentPath, entry.name);
    const bytes = new Uint8Array(await readFile(path));
    const etag = `"${createHash("sha256").update(bytes).digest("base64url")}"`;
    files.set(`/${relative(folder, path).split(sep).join("/")}`, { bytes, type, etag });
  }
  return files;
}

/** The files of a folder, the package's own unless given. */
export function createFiles(folder: string = FOLDER): Files {
  let files: Promise<ReadonlyMap<string, PageFile>> | undefined;
  return {
    async serve(request, path) {
      if (request.method !== "GET" && request.method !== "HEAD")
        return refuse("method_not_allowed", { headers: { allow: "GET, HEAD" } });
      files ??= read(folder);
      const file = (await files).get(path === "/" ? "/index.html" : path);
      if (file === undefined) return refuse("not_found");
      const headers = {
        ...COMMON_HEADERS,
        "content-type": file.type,
        "cache-control": "no-cache",
        etag: file.etag,
      };
      if (request.headers.get("if-none-match") === file.etag)
        return new Response(null, { status: 304, headers });
      return new Response(request.method === "HEAD" ? null : file.bytes, { status: 200, headers });
    },
  };
}
