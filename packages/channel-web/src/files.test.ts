import { mkdir, mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createFiles } from "./files.js";

async function folder(): Promise<string> {
  const base = await mkdtemp(join(tmpdir(), "acp-inbox-files-"));
  const page = join(base, "page");
  await mkdir(join(page, "parts"), { recursive: true });
  await writeFile(join(base, "secret.js"), "no");
  await writeFile(join(page, "index.html"), "<!doctype html>");
  await writeFile(join(page, "app.js"), "1");
  await writeFile(join(page, "parts", "list.js"), "2");
  await writeFile(join(page, "notes.md"), "not served");
  return page;
}

const get = (path: string, init: RequestInit = {}): [Request, string] => [
  new Request(`http://localhost${path}`, init),
  path,
];

describe("createFiles()", () => {
  it("serves what lies in the folder, with its type", async () => {
    const files = createFiles(await folder());
    const index = await files.serve(...get("/"));
    expect([index.status, index.headers.get("content-type"), await index.text()]).toEqual([
      200,
      "text/html; charset=utf-8",
      "<!doctype html>",
    ]);
    expect(await (await files.serve(...get("/parts/list.js"))).text()).toBe("2");
    expect((await files.serve(...get("/app.js"))).headers.get("content-type")).toBe(
      "text/javascript; charset=utf-8",
    );
  });

  it("lets a page load nothing from elsewhere, run nothing inline and be framed by nobody", async () => {
    const policy =
      (await createFiles(await folder()).serve(...get("/"))).headers.get(
        "content-security-policy",
      ) ?? "";
    for (const part of [
      "default-src 'none'",
      "script-src 'self'",
      "frame-ancestors 'none'",
      "require-trusted-types-for 'script'",
      "trusted-types 'none'",
      "worker-src 'none'",
    ])
      expect(policy.split("; ")).toContain(part);
    expect(policy).not.toMatch(/unsafe|\*|http/);
  });

  it("says that nothing changed to who has it", async () => {
    const files = createFiles(await folder());
    const etag = (await files.serve(...get("/app.js"))).headers.get("etag") ?? "";
    const again = await files.serve(...get("/app.js", { headers: { "if-none-match": etag } }));
    expect([again.status, await again.text()]).toEqual([304, ""]);
    expect(
      (await files.serve(...get("/app.js", { headers: { "if-none-match": '"x"' } }))).status,
    ).toBe(200);
  });

  it("answers HEAD without a body", async () => {
    const head = await createFiles(await folder()).serve(...get("/", { method: "HEAD" }));
    expect([head.status, await head.text()]).toEqual([200, ""]);
  });

  it.each([
    "/../secret.js",
    "/%2e%2e/secret.js",
    "/..%2fsecret.js",
    "//secret.js",
    "/notes.md",
    "/parts",
    "/parts/",
    "/app.js/",
    "/constructor",
    "/.env",
  ])("has nothing at %s", async (path) => {
    const request = new Request("http://localhost/");
    expect((await createFiles(await folder()).serve(request, path)).status).toBe(404);
  });

  it.each(["POST", "PUT", "DELETE"])("does not take %s", async (method) => {
    const refused = await createFiles(await folder()).serve(...get("/", { method }));
    expect([refused.status, refused.headers.get("allow")]).toEqual([405, "GET, HEAD"]);
  });
});
