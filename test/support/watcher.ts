import WebSocket from 'ws';
import { eventually } from '../../platform/testing/eventually';
import type { Answer } from './caller';

/** A watcher of `/ws` that records every message. */
export class TestWatcher {
  readonly received: Answer['body'][] = [];
  closed: { code: number; reason: string } | undefined;

  private constructor(readonly socket: WebSocket) {
    socket.on('message', (data: Buffer) => this.received.push(JSON.parse(data.toString('utf8'))));
    socket.on('close', (code, reason) => (this.closed = { code, reason: reason.toString('utf8') }));
  }

  static async open(url: string, options: WebSocket.ClientOptions = {}, query = ''): Promise<TestWatcher> {
    const socket = new WebSocket(`${url.replace('http', 'ws')}/ws${query}`, options);
    const watcher = new TestWatcher(socket);
    await new Promise<void>((resolve, reject) => {
      socket.once('open', resolve);
      socket.once('error', reject);
    });
    return watcher;
  }

  send(message: unknown): void {
    this.socket.send(typeof message === 'string' ? message : JSON.stringify(message));
  }

  of(type: string): Answer['body'][] {
    return this.received.filter((message) => message.type === type);
  }

  /** Waits for a message that `matches`, and returns it. */
  receives(matches: (message: Answer['body']) => boolean, withinMs?: number): Promise<Answer['body']> {
    return eventually(
      () => {
        const found = this.received.find(matches);
        if (!found) {
          throw new Error(`not received among ${this.received.map(({ type }) => type).join(', ')}`);
        }
        return found;
      },
      { withinMs },
    );
  }

  /** Sequences of the run events it received of one attempt, in the order they came. */
  sequences(attemptId: string): number[] {
    return this.of('agent:event')
      .filter((message) => message.attemptId === attemptId)
      .map((message) => message.sequence);
  }

  close(): void {
    this.socket.terminate();
  }
}
