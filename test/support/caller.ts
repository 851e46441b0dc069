import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { eventually } from '../../platform/testing/eventually';

export interface Answer {
  status: number;
  headers: Headers;
  // The tests state what they expect of a body and know its type.
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  body: any;
}

/** A caller of the API: one function per thing tests do often. */
export class Caller {
  constructor(
    readonly url: string,
    private readonly headers: Record<string, string> = {},
  ) {}

  async send(method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Answer> {
    const response = await fetch(`${this.url}${path}`, {
      method,
      headers: { ...this.headers, ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, body: text === '' ? undefined : JSON.parse(text) };
  }

  get = (path: string) => this.send('GET', path);
  post = (path: string, body: unknown = {}, headers?: Record<string, string>) => this.send('POST', path, body, headers);

  /** Sends and expects a success; returns the body. A stop that no worker has answered yet is sent again under its key. */
  async ok(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer['body']> {
    const key = path.endsWith('/stop') ? { 'x-idempotency-key': randomUUID() } : undefined;
    let answer = await this.send(method, path, body, { ...key, ...headers });
    while (key && answer.body?.code === 'RUN_PENDING') {
      answer = await this.send(method, path, body, { ...key, ...headers });
    }
    if (answer.status >= 400) {
      throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    }
    return answer.body;
  }

  /** Starts a run as callers should: under a key, and asking again while no worker has responded. */
  async start(taskId: string, body: object = {}, headers?: Record<string, string>): Promise<Answer['body']> {
    const key = headers ?? ('idempotencyKey' in body ? {} : { 'x-idempotency-key': randomUUID() });
    const path = `/api/agents/${taskId}/start`;
    for (;;) {
      const { status, body: responseBody } = await this.post(path, body, key);
      if (status < 400) {
        return responseBody;
      }
      if (responseBody?.code !== 'RUN_PENDING') {
        throw new Error(`POST ${path}: ${status} ${JSON.stringify(responseBody)}`);
      }
    }
  }

  configureAgents = (agents: object[]) => this.ok('PUT', '/api/config/agents', { agents });
  addRepository = (name: string, path: string) =>
    this.ok('POST', '/api/config/repos', { name, path, defaultBranch: 'main' });
  createTask = (task: object) => this.ok('POST', '/api/tasks', task);
  status = (taskId: string) => this.ok('GET', `/api/agents/${taskId}/status`);

  /** Every event of an attempt, page by page. */
  async events(taskId: string, attemptId: string): Promise<Answer['body'][]> {
    const events: Answer['body'][] = [];
    for (let more = true; more;) {
      const after = events.at(-1)?.sequence ?? 0;
      const page = await this.ok(
        'GET',
        `/api/agents/${taskId}/attempts/${attemptId}/events?afterSequence=${after}&limit=500`,
      );
      events.push(...page.events);
      more = page.hasMore;
    }
    return events;
  }

  /** Waits until the latest attempt of the task has ended, and returns the status. */
  ended(taskId: string): Promise<Answer['body']> {
    return eventually(
      async () => {
        const status = await this.status(taskId);
        if (status.state !== 'ended') {
          throw new Error(`the run is ${status.state}`);
        }
        return status;
      },
      { everyMs: 50 },
    );
  }
}

/** A configured agent that runs one of the scripts under `test/support/agents`. */
export const scriptAgent = (type: string, ...args: string[]) => ({
  type,
  name: type,
  provider: 'process',
  command: process.execPath,
  args: [join(__dirname, 'agents', `${type}.mjs`), ...args],
});
