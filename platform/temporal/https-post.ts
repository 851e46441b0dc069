import { Agent, request } from 'node:https';
import type { TLSConfig } from '@temporalio/client';

export interface PostedResponse {
  status: number;
  text: string;
}

const agent = new Agent({ keepAlive: true });

/** Posts to a server that is reached as connections to Temporal are, with its own CA and a client certificate. */
export function httpsPost(
  url: string,
  options: { headers: Record<string, string>; body: string; signal: AbortSignal; tls: TLSConfig | true },
): Promise<PostedResponse> {
  const { headers, body, signal } = options;
  const tls: TLSConfig = options.tls === true ? {} : options.tls;
  return new Promise((resolve, reject) => {
    const posted = request(url, {
      method: 'POST',
      agent,
      headers,
      signal,
      ca: bufferOf(tls.serverRootCACertificate),
      cert: bufferOf(tls.clientCertPair?.crt),
      key: bufferOf(tls.clientCertPair?.key),
      servername: tls.serverNameOverride,
    });
    posted.once('error', reject).once('response', (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.once('error', reject);
      response.once('end', () => resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString() }));
    });
    posted.end(body);
  });
}

const bufferOf = (bytes: Uint8Array | undefined): Buffer | undefined =>
  bytes === undefined ? undefined : Buffer.from(bytes);
