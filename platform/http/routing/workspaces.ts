import type { IncomingHttpHeaders } from 'node:http';
import type { AuthContext } from '../auth/auth';
import type { IdempotencyKeys } from '../limits/idempotency';
import type { ReplyProfile } from '../reply-profile';
import type { AuditedAction } from './route-contract';
import type { RouteEntry } from './routes';

/** What the requests to the records of one workspace depend on. */
export interface WorkspaceDependencies {
  /** Whether a feature setting that turns routes off lets them be; all are on when absent. */
  isTurnedOn?: (setting: string) => Promise<boolean>;
  /** Writes an entry of the audit log; one that a repetition finds there is not written again. */
  audit: (done: AuditedAction & { actor: string }) => Promise<unknown>;
  /** Where `Idempotency-Key` is honoured; without it the header is refused. */
  idempotencyKeys?: IdempotencyKeys | undefined;
  /** How replies come to callers under the prefix of a profile; in their default shape when absent. */
  profile?: ReplyProfile | undefined;
}

/** An operation as one workspace serves it, on records of its own. */
export type ServedOperation = RouteEntry & WorkspaceDependencies;

/** Which workspace a request is served in. Public routes are the installation's and ask for none. */
export interface Workspaces {
  /** The caller in the workspace that its request names; the caller itself when it names none. @throws AppError */
  enter: (caller: AuthContext, headers: IncomingHttpHeaders) => AuthContext | Promise<AuthContext>;
  /** Undefined where the caller's workspace is the one of the installed routes. @throws AppError when it does not serve this */
  serve: (caller: AuthContext, operationId: string) => Promise<ServedOperation> | undefined;
}
