/**
 * `fetch` whose signal also ends a body that is being read. That of Node 20 ignores its signal from the first collection of garbage
 * on after the head of a response has come: a caller that gave it up would wait, and pay, for all of it.
 */
export async function abortableFetch(input: string | URL | Request, init: RequestInit = {}): Promise<Response> {
  const response = await fetch(input, init);
  const { body, status, statusText, headers } = response;
  if (!body || !init.signal) {
    return response;
  }
  // A pipe holds on to its signal until it ends.
  const abortable = body.pipeThrough(new TransformStream<Uint8Array, Uint8Array>(), { signal: init.signal });
  return new Response(abortable, { status, statusText, headers });
}
