import { eventually } from '../../platform/testing/eventually';
import type { Answer } from '../support/caller';
import type { Service } from '../support/stack/service';
import type { Ledger } from './ledger';

/** A request with a final response of the service; anything else is repeated under the same key. */
export interface Answered {
  status: number;
  body: Answer['body'];
}

/** How often a request is repeated, in milliseconds. */
const everyMs = 200;
/** How long a struck process may take to respond again, in milliseconds; as long as the longest pause and a full disk. */
const withinMs = 180_000;

/** Repeats a request until it has a definite response: what may have happened is requested again under the same key. */
export const persist = (
  { call }: Service,
  method: string,
  path: string,
  body?: object,
  key?: string,
): Promise<Answered> =>
  eventually(
    async () => {
      const headers: Record<string, string> = key === undefined ? {} : { 'idempotency-key': key };
      const signal = AbortSignal.timeout(30_000);
      const { status, body: responseBody } = await within(signal, call.send(method, path, body, headers));
      const pending = status >= 500 || status === 429 || responseBody?.code === 'IDEMPOTENCY_KEY_IN_USE';
      if (pending || responseBody?.code === 'RUN_PENDING') {
        throw new Error(`${method} ${path}: ${status} ${responseBody?.code}`);
      }
      return { status, body: responseBody };
    },
    { everyMs, withinMs },
  );

/** A paused process does not respond: the caller gives up, and asks again. */
async function within<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  return Promise.race([
    work,
    new Promise<never>((_, reject) => {
      signal.addEventListener('abort', () => reject(new Error('no answer')), { once: true });
    }),
  ]);
}

/** Creates a task whose title no other has, and writes down that it is there. */
export async function createTask(
  service: Service,
  ledger: Ledger,
  title: string,
  fields: object = {},
): Promise<string> {
  ledger.caller('create-sent', { title });
  const task = { title, git: { repo: 'sample' }, ...fields };
  const { status, body } = await persist(service, 'POST', '/api/tasks', task, `create-${title.replaceAll(' ', '-')}`);
  if (status !== 201) {
    throw new Error(`${title}: ${status} ${JSON.stringify(body)}`);
  }
  ledger.caller('created', { title, task: body.id });
  return body.id;
}

/** Starts a run; `undefined` when it was refused. */
export async function startRun(
  service: Service,
  ledger: Ledger,
  task: string,
  request: object,
  key: string,
): Promise<{ attempt: string; status: string; queueId?: string } | undefined> {
  const { status, body } = await persist(service, 'POST', `/api/agents/${task}/start`, request, key);
  if (status >= 400) {
    ledger.caller('start-refused', { task, status: String(body?.code ?? status) });
    return undefined;
  }
  ledger.caller('started', { task, attempt: body.attemptId, status: body.status });
  return { attempt: body.attemptId, status: body.status, queueId: body.queueId };
}
