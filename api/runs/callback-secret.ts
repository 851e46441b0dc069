import type { z } from 'zod';
import {
  callbackSecretHeader,
  presentedSecret,
  renewedCallback,
  type IssuedCallback,
} from '../../contracts/callback-secret';
import type { LaunchAnswer } from '../../contracts/launch';
import { AppError, conflict, validationError } from '../../platform/errors/app-error';
import type { AuthContext } from '../../platform/http/auth';
import type { Routes } from '../../platform/http/routes';
import type { AttemptRecord } from '../../stores/attempt-store';
import { verifiedAttempt } from './attempt';
import type { RunsContext } from './context';
import { ofAttempt } from './parameters';

/** Who reports something of an attempt that runs elsewhere, and with what proof. */
export interface Reporter {
  auth: Pick<AuthContext, 'permissions'>;
  /** The header `X-Board-Callback-Secret`, where the body has no secret. */
  secret: string | undefined;
}

const callbackOf = (taskId: string, secret: string): IssuedCallback => ({
  secret,
  header: callbackSecretHeader,
  url: `/api/agents/${encodeURIComponent(taskId)}/complete`,
});

/** The answer to a launch with what the agent has to prove itself with, when that runs elsewhere. */
export async function withCallback(
  { attempts, callbackSecrets }: Pick<RunsContext, 'attempts' | 'callbackSecrets'>,
  answer: LaunchAnswer,
  { actor, launchKey }: { actor: string; launchKey: string | undefined },
): Promise<LaunchAnswer> {
  const { taskId, attemptId } = answer;
  const provider = answer.status === 'running' ? answer.provider : (await attempts.get(attemptId))?.provider;
  if (provider !== 'remote-callback') return answer;
  const secret = await callbackSecrets.forLaunch(attemptId, actor, launchKey);
  return secret === undefined ? answer : { ...answer, callback: callbackOf(taskId, secret) };
}

/**
 * Makes sure that a report about an attempt elsewhere comes from its agent, or from an administrator.
 *
 * @throws AppError 403 `CALLBACK_SECRET_REQUIRED` or `CALLBACK_SECRET_INVALID`
 */
export async function assertReporter(
  { callbackSecrets }: Pick<RunsContext, 'callbackSecrets'>,
  { _id: attemptId }: Pick<AttemptRecord, '_id'>,
  { auth, secret }: Reporter,
): Promise<void> {
  if (secret !== undefined) {
    if (await callbackSecrets.verify(attemptId, secret)) return;
    throw new AppError('CALLBACK_SECRET_INVALID', 403, 'This is not the callback secret of the attempt.', {
      attemptId,
    });
  }
  if (auth.permissions.includes('admin:manage')) return;
  throw new AppError(
    'CALLBACK_SECRET_REQUIRED',
    403,
    `The report needs the callback secret of the attempt, as callbackSecret or in ${callbackSecretHeader}.`,
    { attemptId, header: callbackSecretHeader },
  );
}

/** The secret a report was sent with: the body's, else the header's. @throws AppError 400 when it cannot be one */
export function secretOf(body: string | undefined, header: string | undefined): string | undefined {
  const given = body ?? header;
  if (given === undefined || presentedSecret.safeParse(given).success) return given;
  throw validationError([{ path: callbackSecretHeader, message: 'must have 1 to 200 characters' }]);
}

export function callbackSecretRoutes(routes: Routes, context: RunsContext): void {
  routes.add(
    {
      method: 'post',
      path: '/agents/:taskId/attempts/:attemptId/callback-secret',
      operationId: 'renewCallbackSecret',
      // A secret is answered once and stored nowhere: a repetition makes another one.
      idempotency: 'none',
      summary: 'Issue another callback secret for an attempt of an agent elsewhere',
      tag: 'runs',
      permission: 'agent:write',
      params: ofAttempt,
      response: renewedCallback,
      status: 201,
      errors: [404, 409],
      audit: ({ params }) => ({ action: 'run.renew-callback-secret', resource: params.attemptId }),
    },
    ({ params, auth }) => renew(context, params.taskId, params.attemptId, auth.actor),
  );
}

/** Of an attempt that nobody was answered the launch of, or whose secret is lost, or known to others. */
async function renew(
  context: RunsContext,
  taskId: string,
  attemptId: string,
  actor: string,
): Promise<z.infer<typeof renewedCallback>> {
  const { provider, completion, state } = await verifiedAttempt(context, taskId, attemptId);
  if (provider !== 'remote-callback') {
    throw conflict('Only an agent elsewhere has a callback secret.', { attemptId, provider }, 'NOT_REMOTE_CALLBACK');
  }
  if (completion) throw conflict('The run has ended already.', { attemptId, state }, 'RUN_ENDED');
  const { secret, issuedAt } = await context.callbackSecrets.renew(attemptId, actor);
  return { attemptId, issuedAt, callback: callbackOf(taskId, secret) };
}
