import { BoardError, createBoardClient, refusalText, unwrap } from '../../../clients/typescript/src';
import type { FeedMessage } from '../../../clients/typescript/src/feed';
import type { components } from '../../../clients/typescript/src/types';
import { accessKey } from './access-key';

/** A record of the API by the name of its schema. */
export type Schema<Name extends keyof components['schemas']> = components['schemas'][Name];

export type Task = Schema<'Task'>;
export type TaskStatus = Schema<'TaskStatus'>;
export type Attempt = Schema<'Attempt'>;
export type RunEvent = Schema<'RunEvent'>;
export type RunApproval = Schema<'RunApproval'>;
export type AgentStatus = Schema<'AgentStatus'>;
export type SquadMessage = Schema<'SquadMessage'>;
export type LineComment = Schema<'LineComment'>;
export type DiffFile = Schema<'DiffFile'>;
export type FileDiff = Schema<'FileDiff'>;

/** A change without a response: it may have been made. */
class UnansweredChangeError extends Error {
  override readonly name = 'UnansweredChangeError';

  constructor(cause: unknown) {
    super(
      'The service does not respond, and it is not known whether the change was made. Check that when it is back, and repeat the change if it was not.',
      { cause },
    );
  }
}

async function send(request: Request): Promise<Response> {
  const key = accessKey();
  if (key !== undefined) {
    request.headers.set('X-API-Key', key);
  }
  try {
    return await fetch(request);
  } catch (error) {
    throw request.method === 'GET' || request.signal.aborted ? error : new UnansweredChangeError(error);
  }
}

/** The typed client: with the cookie of the session, or the access key of this tab. */
export const board = createBoardClient({ url: location.origin, fetch: send });

export { BoardError, type FeedMessage, unwrap };

/** A refusal as a sentence, with what to do about it where the service states that. */
export function explain(error: unknown): string {
  if (error instanceof BoardError) {
    const { message, remedy } = refusalText(error);
    return remedy === undefined || message.includes(remedy) ? message : `${message} ${remedy}`;
  }
  if (error instanceof TypeError) {
    return 'The service does not respond. It is tried again when it is back.';
  }
  return error instanceof Error ? error.message : 'Something went wrong.';
}

export const isRefusal = (error: unknown, ...statuses: number[]): error is BoardError =>
  error instanceof BoardError && statuses.includes(error.status);
