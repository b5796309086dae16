/**
 * The page's files without a browser: what the content security policy forbids is not in them, no
 * service worker is among them but one that ends itself, they are light.
 */
import { readFileSync, readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { PAGE_GZIP_BYTES_MAX } from "./page.js";

const FOLDER = new URL("../page/", import.meta.url);
const SERVED = /\.(?:html|js|css|svg|png|webmanifest)$/;

const files = readdirSync(fileURLToPath(FOLDER), { recursive: true, encoding: "utf8" }).filter(
  (name) => SERVED.test(name),
);
const read = (name: string): string => readFileSync(new URL(name, FOLDER), "utf8");
const scripts = files.filter((name) => name.endsWith(".js"));

describe("page", () => {
  it("is at most 72 kB, compressed, in all", () => {
    const bytes = files.reduce(
      (sum, name) => sum + gzipSync(readFileSync(new URL(name, FOLDER))).byteLength,
      0,
    );
    expect(bytes).toBeLessThanOrEqual(PAGE_GZIP_BYTES_MAX);
  });

  it("registers no service worker, and has one script for them, which keeps and answers nothing", () => {
    for (const name of scripts.filter((each) => each !== "sw.js"))
      expect(read(name)).not.toContain("serviceWorker");
    expect(read("sw.js")).toContain("registration.unregister()");
    expect(read("sw.js")).not.toMatch(/"fetch"|respondWith|caches\.open|clients\.claim/);
  });

  it.each(scripts)(
    "%s makes no markup and no code of a text, and loads nothing from elsewhere",
    (name) => {
      const code = read(name).replace(/\/\*[^]*?\*\/|(?<=^|\s)\/\/.*$/gm, "");
      expect(code).not.toMatch(
        /innerHTML|outerHTML|insertAdjacentHTML|document\.write|srcdoc|\beval\b|new Function|DOMParser|createContextualFragment/,
      );
      expect(code).not.toMatch(/https?:|\.style\b|importScripts|cssText/);
      for (const [, from] of code.matchAll(/from "([^"]+)"/g))
        expect(files).toContain(from?.replace("./", ""));
    },
  );

  it("index.html has no script, style or handler of its own", () => {
    const html = read("index.html");
    expect(html).not.toMatch(/<style|\sstyle=|\son\w+=|javascript:|https?:/i);
    expect([...html.matchAll(/<script[^>]*>([^]*?)<\/script>/g)].map(([, body]) => body)).toEqual([
      "",
    ]);
  });

  it("can be installed: name, start, display and an icon that is there", () => {
    const manifest = JSON.parse(read("manifest.webmanifest")) as {
      readonly [key: string]: unknown;
      readonly icons: readonly { readonly src: string }[];
    };
    expect(manifest).toMatchObject({
      name: expect.any(String),
      start_url: "/",
      scope: "/",
      display: "standalone",
    });
    for (const { src } of manifest.icons) expect(files).toContain(src.slice(1));
  });
});
