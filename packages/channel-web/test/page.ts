/** A page's side of an inbox without a browser: cookie, key, requests, the stream of events. */
import type { JsonObject } from "@acp/core";

export const ORIGIN = "http://localhost:8789";

/**
 * What the page's files may weigh together, each compressed as a server in front would: 70 kB, and
 * 2 kB for the shorter lines they are written in since.
 */
export const PAGE_GZIP_BYTES_MAX = 72_000;

type Handler = (request: Request) => Promise<Response>;

/** A question as the page is told of it. */
export interface PageQuestion {
  readonly request: { readonly id: string; readonly action: { readonly parameters: JsonObject } };
  readonly needs_passkey: boolean;
  readonly may_answer: boolean;
  readonly word: string | null;
}

/** One event of the stream: the fields that its name has. */
export interface PageEvent {
  readonly id: string;
  readonly event: string;
  readonly data: PageQuestion & { readonly id: string; readonly open: readonly PageQuestion[] };
}

/** What may stand in an answer: the fields that its route has. */
export interface Body {
  readonly code: string;
  readonly key: string;
  readonly ticket: string;
  readonly response: {
    readonly timestamp: string;
    readonly conditions: { readonly valid_until: string };
  };
  readonly payload_hash: string;
  readonly passkey: JsonObject & { readonly challenge: string };
  readonly challenge: string;
  readonly allowCredentials: unknown;
  readonly outcome: string;
  readonly receipts: readonly {
    readonly receipt: { readonly status: string; readonly code?: string };
  }[];
  readonly entries: readonly { readonly request: { readonly id: string } }[];
}

export interface Answered {
  readonly status: number;
  readonly body: Body;
  readonly headers: Headers;
}

/** Reads events one by one. */
export interface PageStream {
  readonly status: number;
  next(): Promise<PageEvent | "comment" | undefined>;
  cancel(): Promise<void>;
}

export function readStream(response: Response): PageStream {
  const reader = response.body?.getReader();
  const decoder = new TextDecoder();
  let text = "";
  return {
    status: response.status,
    async next() {
      for (;;) {
        const end = text.indexOf("\n\n");
        if (end !== -1) {
          const block = text.slice(0, end).replace(/^retry: \d+\n/, "");
          text = text.slice(end + 2);
          if (block.startsWith(":")) return "comment";
          const fields = Object.fromEntries(
            block
              .split("\n")
              .map((line) => [
                line.slice(0, line.indexOf(": ")),
                line.slice(line.indexOf(": ") + 2),
              ]),
          );
          const data = JSON.parse(fields["data"] ?? "null") as PageEvent["data"];
          return { id: fields["id"] ?? "", event: fields["event"] ?? "", data };
        }
        const { done, value } = (await reader?.read()) ?? { done: true, value: undefined };
        if (done || value === undefined) return undefined;
        text += decoder.decode(value, { stream: true });
      }
    },
    cancel: async () => void (await reader?.cancel()),
  };
}

/** What one page keeps. */
export interface Page {
  cookie: string;
  key: string;
  get(path: string, headers?: Readonly<Record<string, string>>): Promise<Answered>;
  post(path: string, body: object, headers?: Readonly<Record<string, string>>): Promise<Answered>;
  delete(path: string): Promise<Answered>;
  /** Keeps cookie and key where the answer has them. */
  signIn(path: string, body: object): Promise<Answered>;
  events(): Promise<PageStream>;
}

async function read(response: Response): Promise<Answered> {
  const text = await response.text();
  return {
    status: response.status,
    headers: response.headers,
    body: JSON.parse(text === "" ? "{}" : text) as Body,
  };
}

/** Prepares an answer, a yes unless more says otherwise. */
export function prepare(
  page: Page,
  { id }: { readonly id: string },
  more: object = {},
): Promise<Answered> {
  return page.post("/api/answers/prepare", { request_id: id, decision: "approved", ...more });
}

export function openPage(handler: Handler): Page {
  const request = (
    method: string,
    path: string,
    headers: Readonly<Record<string, string>>,
    body?: string,
  ): Promise<Response> =>
    handler(
      new Request(ORIGIN + path, { method, headers, ...(body === undefined ? {} : { body }) }),
    );
  const named = (): Readonly<Record<string, string>> => ({
    ...(page.cookie === "" ? {} : { cookie: page.cookie }),
    "x-acp-inbox": page.key === "" ? "1" : page.key,
  });
  const changing = (): Readonly<Record<string, string>> => ({
    ...named(),
    origin: ORIGIN,
    "content-type": "application/json",
    "sec-fetch-site": "same-origin",
  });
  const page: Page = {
    cookie: "",
    key: "",
    get: async (path, headers = {}) => read(await request("GET", path, { ...named(), ...headers })),
    post: async (path, body, headers = {}) =>
      read(await request("POST", path, { ...changing(), ...headers }, JSON.stringify(body))),
    delete: async (path) => read(await request("DELETE", path, changing())),
    async signIn(path, body) {
      page.key = "";
      const answered = await page.post(path, body);
      if (answered.status !== 200) return answered;
      page.cookie = (answered.headers.get("set-cookie") ?? "").split(";")[0] ?? "";
      page.key = answered.body.key;
      return answered;
    },
    events: async () => readStream(await request("GET", "/api/events", named())),
  };
  return page;
}
