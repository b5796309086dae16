/**
 * A request to a name of this machine, as browsers send it: not every system resolves names below
 * localhost outside of them.
 */
import { request } from "node:http";
import { Readable } from "node:stream";

export interface LocalInit {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly signal?: AbortSignal;
}

/** Like `fetch`, to 127.0.0.1 whatever the host is called. */
export function localFetch(
  url: string,
  { method = "GET", headers = {}, body, signal }: LocalInit = {},
): Promise<Response> {
  const { host, port, pathname, search } = new URL(url);
  return new Promise((resolve, reject) => {
    const to = {
      host: "127.0.0.1",
      port,
      path: pathname + search,
      method,
      headers: { ...headers, host },
      ...(signal && { signal }),
    };
    const sent = request(to, (answer) => {
      const named = Object.entries(answer.headers).flatMap(([name, value]): [string, string][] =>
        value === undefined ? [] : [[name, Array.isArray(value) ? value.join(", ") : value]],
      );
      const status = answer.statusCode ?? 0;
      const isEmpty = status === 204 || status === 304;
      resolve(
        new Response(isEmpty ? null : (Readable.toWeb(answer) as ReadableStream), {
          status,
          headers: named,
        }),
      );
    });
    sent.on("error", reject).end(body);
  });
}
