/**
 * The modules that the inbox's page is made of, as the browser loads them: by their address. Types:
 * what the tests here use of them.
 */

import type { JsonObject } from "@acp/core";

export type Receipt =
  | { readonly status: "final"; readonly outcome: string }
  | { readonly status: "counted"; readonly have: number; readonly need: number }
  | { readonly status: "reshow"; readonly request_id: string }
  | { readonly status: "refused"; readonly code: string; readonly reason: string }
  | { readonly status: "unknown" };

export interface Result {
  readonly kind: "unsent" | "refused" | "unknown" | "counted" | "over";
  readonly status?: string;
  readonly run?: { readonly state: string };
  readonly text: string;
}

interface PageQuestion {
  readonly request: {
    readonly id: string;
    readonly action_digest: string;
    readonly action: { readonly parameters: JsonObject };
  };
}

export interface PageStore {
  count(): number;
  open(): readonly PageQuestion[];
  find(id: string): PageQuestion | undefined;
  over(id: string): { readonly ended: object } | undefined;
  subscribe(listener: (change: { readonly id?: string }) => void): void;
  setLink(link: "live" | "lost"): void;
  hello(told: unknown): void;
  put(told: unknown): void;
  end(told: unknown): void;
  lose(told: unknown): void;
  run(told: unknown): void;
}

type Post = (body: object) => Promise<unknown>;

interface PageModules {
  readonly Refused: new (code: string, message: string) => Error;
  createStore(): PageStore;
  lookUp(store: PageStore, post: Post): Promise<void>;
  resultOf(receipt: Receipt | undefined, ended: object | undefined): Result;
  sumUp(
    decision: "approved" | "denied",
    results: readonly Result[],
  ): { readonly text: string; readonly tone: string };
  sendBatch(batch: {
    readonly items: readonly { readonly request_id: string; readonly action_digest: string }[];
    readonly decision: "approved" | "denied";
    readonly reason: string;
    readonly post: Post;
    readonly take: (id: string, receipt: Receipt) => void;
  }): Promise<void>;
}

const load = async (name: string): Promise<object> =>
  (await import(new URL(`../../channel-web/page/${name}.js`, import.meta.url).href)) as object;

/** All of them. */
export async function loadPage(): Promise<PageModules> {
  const parts = await Promise.all(
    ["api", "batch-result", "batch-send", "outcomes", "store"].map(load),
  );
  // What they export is what page/types.d.ts and their own comments say; the page's type check
  // holds them to it.
  return Object.assign({}, ...parts) as PageModules;
}
