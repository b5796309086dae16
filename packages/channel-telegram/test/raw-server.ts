/** A server that answers as no Bot API would. */
import { type IncomingMessage, type ServerResponse, createServer } from "node:http";

export interface RawServer extends AsyncDisposable {
  readonly root: string;
  readonly paths: readonly string[];
}

export async function rawServer(
  answer: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<RawServer> {
  const paths: string[] = [];
  const server = createServer((request, response) => {
    paths.push(request.url ?? "");
    request.resume();
    answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  return {
    root: `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`,
    paths,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
