/**
 * Body: the bytes of a request, up to a limit.
 */

/**
 * The bytes of a request, or `undefined` where there are more than `bytesMax`: the rest is not
 * read.
 */
export async function readBody(
  request: Request,
  bytesMax: number,
): Promise<Uint8Array | undefined> {
  if (Number(request.headers.get("content-length") ?? "0") > bytesMax) return undefined;
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  // Cancelled, the stream would take the connection with it, and nobody would be told why.
  const stream: AsyncIterable<Uint8Array> | readonly Uint8Array[] =
    request.body?.values({ preventCancel: true }) ?? [];
  for await (const chunk of stream) {
    bytes += chunk.byteLength;
    if (bytes > bytesMax) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
