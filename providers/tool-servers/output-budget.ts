import { serverLimits } from './limits';

/** Why a connection is ended from here. */
export interface OutputProblem {
  code: 'output-limit' | 'protocol-error';
  /** What the server did. */
  what: string;
}

/** How much a server may still send, and why its connection was ended from here. */
export class OutputBudget {
  private sent = 0;
  problem: OutputProblem | undefined;

  /** A request of ours begins: what came before it does not count for it. */
  renew(): void {
    this.sent = 0;
  }

  /** Counts so many bytes more. Returns the problem when they are too many. */
  spend(bytes: number): OutputProblem | undefined {
    this.sent += bytes;
    return this.sent > serverLimits.outputBytes
      ? { code: 'output-limit', what: `it sent more than ${serverLimits.outputBytes} bytes for one request` }
      : undefined;
  }

  /** The connection is ended for this; the first reason counts. */
  fail(problem: OutputProblem): void {
    this.problem ??= problem;
  }
}

/** A message whose shape is refused. */
export const refusedMessage = (error: unknown): OutputProblem => ({
  code: 'protocol-error',
  what: `it sent a message that is refused: ${error instanceof Error ? error.message.replace(/\.$/, '') : ''}`,
});

/** A message that is too long. */
export const longMessage: OutputProblem = {
  code: 'output-limit',
  what: `it sent a message of more than ${serverLimits.messageBytes} bytes`,
};
