import { randomUUID } from 'node:crypto';
import { httpsPost } from './https-post';
import type { TemporalSecurity } from './security';

/** Which Temporal server is asked. */
export interface NexusServer {
  /** `host:port` of its HTTP API. */
  httpAddress: string;
  namespace: string;
  /** Where the server asks who connects. */
  security?: TemporalSecurity;
}

/** One Nexus operation that is answered at once, by whoever polls the task queue. */
export interface NexusQuestion {
  taskQueue: string;
  service: string;
  operation: string;
  input: unknown;
  /** How long the answer may take, in milliseconds. */
  withinMs: number;
}

/** The server, or whoever polls the queue, has no such operation: nothing was asked. */
export class NexusNotServedError extends Error {
  override readonly name = 'NexusNotServedError';
}

/** Whoever was asked failed, or did not answer in time. */
export class NexusFailedError extends Error {
  override readonly name = 'NexusFailedError';

  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }

  /** Whether nobody has answered. */
  get unanswered(): boolean {
    return this.status === upstreamTimeout;
  }
}

/** What the HTTP binding of Nexus answers when nobody took the question up in time. */
const upstreamTimeout = 520;
const notServed = [404, 501];
/** What the server has to say that time is up, before the connection is given up, in milliseconds. */
const graceMs = 2_000;

/**
 * Asks a worker something over the HTTP API of a Temporal server. The server hands the question over and keeps nothing of
 * it, which makes this the fast way for reads: a tenth of an activity, which is written down at every step.
 *
 * @throws NexusNotServedError when another way must be taken; NexusFailedError when there is no answer
 */
export async function askNexus<Answer>(server: NexusServer, question: NexusQuestion): Promise<Answer> {
  const { withinMs, input } = question;
  const { status, text } = await send(server, question, {
    headers: {
      'content-type': 'application/json',
      'nexus-request-id': randomUUID(),
      'request-timeout': `${withinMs}ms`,
    },
    body: JSON.stringify(input),
    signal: AbortSignal.timeout(withinMs + graceMs),
  });
  // The answer of a service of ours, whose contract both sides are compiled against.
  if (status === 200) return JSON.parse(text) as Answer;
  const said = text.slice(0, 500);
  if (notServed.includes(status)) throw new NexusNotServedError(said);
  throw new NexusFailedError(status, said);
}

interface Posted {
  headers: Record<string, string>;
  body: string;
  signal: AbortSignal;
}

async function send({ httpAddress, namespace, security }: NexusServer, question: NexusQuestion, posted: Posted) {
  const { taskQueue, service, operation } = question;
  const [inNamespace, onQueue, ofService, named] = [namespace, taskQueue, service, operation].map(encodeURIComponent);
  const path = `namespaces/${inNamespace}/task-queues/${onQueue}/nexus-services/${ofService}/${named}`;
  try {
    const { tls, apiKey } = security ?? {};
    const headers = { ...posted.headers, ...(apiKey && { authorization: `Bearer ${apiKey}` }) };
    if (tls) return await httpsPost(`https://${httpAddress}/${path}`, { ...posted, headers, tls });
    const response = await fetch(`http://${httpAddress}/${path}`, { ...posted, headers, method: 'POST' });
    return { status: response.status, text: await response.text() };
  } catch (cause) {
    if (posted.signal.aborted) throw new NexusFailedError(upstreamTimeout, String(cause));
    throw new NexusNotServedError(`Nothing answers at ${httpAddress}.`, { cause });
  }
}
