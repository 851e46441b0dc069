import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { type JSONRPCMessage, JSONRPCMessageSchema } from '@modelcontextprotocol/sdk/types.js';
import { JsonLimitError, parseBoundedJson } from '../../platform/json/bounded';
import type { Line } from '../agents/local/line-splitter';
import { pump } from '../agents/local/pump';
import { messageShape, serverLimits } from './limits';
import { longMessage, type OutputBudget, type OutputProblem, refusedMessage } from './output-budget';
import type { ServerProgram } from './program';

/**
 * The standard streams of a program as a transport of the protocol. What the program writes is read no faster than its requests
 * are answered, and bounded: a message beyond its limit, or more than a budget, ends the connection with that error.
 */
export class StdioTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;

  private unanswered = 0;
  private junk = 0;
  private closed = false;
  private resume: (() => void)[] = [];

  constructor(
    private readonly program: ServerProgram,
    private readonly budget: OutputBudget,
  ) {}

  start(): Promise<void> {
    const ended = new AbortController();
    const { stdout, exited } = this.program.spawned;
    void exited.catch(() => undefined).finally(() => ended.abort());
    const reading = pump(stdout, (line) => this.receive(line), {
      ended: ended.signal,
      longest: serverLimits.messageBytes,
      count: (bytes) => {
        const problem = this.budget.spend(bytes);
        if (problem) {
          this.fail(problem);
        }
      },
    });
    reading.then(
      () => this.closeOnce(),
      () => this.closeOnce(),
    );
    return Promise.resolve();
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const isResponse = !('method' in message);
    try {
      await this.write(`${JSON.stringify(message)}\n`);
    } finally {
      if (isResponse) {
        this.unanswered -= 1;
        this.resumeAll();
      }
    }
  }

  /** Ends the program with everything it started. */
  async close(): Promise<void> {
    this.closeOnce();
    await this.program.end();
  }

  private write(text: string): Promise<void> {
    return new Promise((resolve, reject) => {
      this.program.spawned.stdin.write(text, (error) => {
        if (error) {
          reject(new Error('it reads no more', { cause: error }));
        } else {
          resolve();
        }
      });
    });
  }

  private receive(line: Line): Promise<void> | undefined {
    if (this.closed) {
      return undefined;
    }
    if (line.bytes - line.content.length > 2) {
      this.fail(longMessage);
      return undefined;
    }
    const text = line.content.toString('utf8').trim();
    if (text === '') {
      return undefined;
    }
    const message = parse(text);
    if (message instanceof JsonLimitError) {
      this.fail(refusedMessage(message));
      return undefined;
    }
    if (message === undefined) {
      this.junk += 1;
      if (this.junk > serverLimits.junkLines) {
        this.fail(tooMuchJunk);
      }
      return undefined;
    }
    return this.dispatch(message);
  }

  private dispatch(message: JSONRPCMessage): Promise<void> | undefined {
    if ('method' in message && 'id' in message) {
      this.unanswered += 1;
    }
    this.onmessage?.(message);
    return this.untilAnswered();
  }

  private untilAnswered(): Promise<void> | undefined {
    if (this.unanswered <= serverLimits.unanswered || this.closed) {
      return undefined;
    }
    return new Promise<void>((resolve) => this.resume.push(resolve)).then(() => this.untilAnswered());
  }

  private fail(problem: OutputProblem): void {
    this.budget.fail(problem);
    this.closeOnce();
    void this.program.end().catch(() => undefined);
  }

  private closeOnce(): void {
    if (!this.closed) {
      this.closed = true;
      this.resumeAll();
      this.onclose?.();
    }
  }

  private resumeAll(): void {
    for (const resume of this.resume.splice(0)) {
      resume();
    }
  }
}

const tooMuchJunk: OutputProblem = {
  code: 'output-limit',
  what: `it wrote more than ${serverLimits.junkLines} lines that are no messages`,
};

/** `undefined` for a line that is no message. */
function parse(text: string): JSONRPCMessage | JsonLimitError | undefined {
  if (!text.startsWith('{')) {
    return undefined;
  }
  try {
    const value = parseBoundedJson(text, messageShape);
    return JSONRPCMessageSchema.safeParse(value).data;
  } catch (error) {
    return error instanceof JsonLimitError ? error : undefined;
  }
}
