/**
 * The page without its screen: the very modules that the page is made of, before the inbox's HTTP,
 * with a stream that comes back when it is cut.
 */
import { setTimeout as wait } from "node:timers/promises";
import { localFetch } from "./local-fetch.js";
import { type PageStore, loadPage } from "./page-modules.js";

const { Refused, createStore, lookUp } = await loadPage();

const LOOK_EVERY_MS = 50;

export interface PageModel {
  readonly store: PageStore;
  /** As the page's own `request`: rejects with `Refused`. */
  post(path: string, body: object): Promise<unknown>;
  /** Waits until something holds; throws when it does not within a minute. */
  until(test: () => boolean, describe?: () => string): Promise<void>;
  close(): void;
}

async function post(
  origin: string,
  headers: Record<string, string>,
  { path, body }: { path: string; body: object },
): Promise<unknown> {
  let response: Response;
  try {
    response = await localFetch(origin + path, {
      method: "POST",
      headers,
      body: JSON.stringify(body),
    });
  } catch (error) {
    throw new Refused("unreachable", String(error));
  }
  const said = (await response.json().catch(() => undefined)) as
    | { code?: string; message?: string }
    | undefined;
  if (response.ok && said !== undefined) return said;
  throw new Refused(said?.code ?? "unreachable", said?.message ?? "");
}

/** As the page's app.js. */
function take(store: PageStore, name: string, data: unknown): void {
  if (name === "hello") store.hello(data);
  else if (name === "open") store.put(data);
  else if (name === "ended") store.end(data);
  else if (name === "lost") store.lose(data);
  else if (name === "run") store.run(data);
}

async function readStream(store: PageStore, stream: Response): Promise<void> {
  let text = "";
  const decoder = new TextDecoder();
  for await (const chunk of stream.body ?? []) {
    text += decoder.decode(chunk, { stream: true });
    const blocks = text.split("\n\n");
    text = blocks.pop() ?? "";
    for (const block of blocks) {
      const [, name = ""] = /^event: (.*)$/m.exec(block) ?? [];
      const [, data = ""] = /^data: (.*)$/m.exec(block) ?? [];
      if (name !== "") take(store, name, JSON.parse(data));
      if (name === "hello") store.setLink("live");
    }
  }
}

/** Signs in, and follows the stream from then on. */
export async function openPageModel(origin: string, code: string): Promise<PageModel> {
  const plain = { origin, "content-type": "application/json", "x-acp-inbox": "1" };
  const signed = await localFetch(`${origin}/api/session`, {
    method: "POST",
    headers: plain,
    body: JSON.stringify({ code }),
  });
  const { key } = (await signed.json()) as { key: string };
  const headers = {
    ...plain,
    "x-acp-inbox": key,
    cookie: signed.headers.get("set-cookie")?.split(";")[0] ?? "",
  };
  const store = createStore();
  const stop = new AbortController();
  const { signal } = stop;
  const follow = async (): Promise<void> => {
    while (!signal.aborted) {
      try {
        await readStream(store, await localFetch(`${origin}/api/events`, { headers, signal }));
      } catch {
        // Cut: it comes back.
      }
      store.setLink("lost");
      await wait(20);
    }
  };
  const ask = async (): Promise<void> => {
    while (!signal.aborted) {
      const asked = (body: object) => post(origin, headers, { path: "/api/outcomes", body });
      await lookUp(store, asked).catch(() => undefined);
      await wait(LOOK_EVERY_MS);
    }
  };
  void follow();
  void ask();
  return {
    store,
    post: (path, body) => post(origin, headers, { path, body }),
    async until(test, describe = () => "") {
      for (let tries = 0; !test(); tries += 1) {
        if (tries > 1_500) throw new Error(`it does not come about: ${describe().slice(0, 2_000)}`);
        await wait(20);
      }
    },
    close: () => stop.abort(),
  };
}
