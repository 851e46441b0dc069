import type { z } from 'zod';
import {
  callbackSecretHeader,
  type IssuedCallback,
  presentedSecret,
  type renewedCallback,
} from '../../../contracts/runs/callback-secret';
import type { LaunchResponse } from '../../../contracts/runs/launch/launch';
import { AppError, conflict, validationError } from '../../../platform/errors/app-error';
import type { AuthContext } from '../../../platform/http/auth/auth';
import type { AttemptRecord } from '../../../stores/runs/attempt-store';
import type { WorkflowContext } from '../../context';
import { verifiedAttempt } from '../attempts/attempt';

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

/** The response to a launch with the agent's credential, when that runs elsewhere. */
export async function withCallback(
  { attempts, callbackSecrets }: Pick<WorkflowContext, 'attempts' | 'callbackSecrets'>,
  answer: LaunchResponse,
  { actor, launchKey }: { actor: string; launchKey: string | undefined },
): Promise<LaunchResponse> {
  const { taskId, attemptId } = answer;
  const provider = answer.status === 'running' ? answer.provider : (await attempts.get(attemptId))?.provider;
  if (provider !== 'remote-callback') {
    return answer;
  }
  const secret = await callbackSecrets.forLaunch(attemptId, actor, launchKey);
  return secret === undefined ? answer : { ...answer, callback: callbackOf(taskId, secret) };
}

/**
 * Makes sure that a report about an attempt elsewhere comes from its agent, or from an administrator.
 *
 * @throws AppError 403 `CALLBACK_SECRET_REQUIRED` or `CALLBACK_SECRET_INVALID`
 */
export async function assertReporter(
  { callbackSecrets }: Pick<WorkflowContext, 'callbackSecrets'>,
  { _id: attemptId }: Pick<AttemptRecord, '_id'>,
  { auth, secret }: Reporter,
): Promise<void> {
  if (secret !== undefined) {
    if (await callbackSecrets.verify(attemptId, secret)) {
      return;
    }
    throw new AppError('CALLBACK_SECRET_INVALID', {
      status: 403,
      message: 'This is not the callback secret of the attempt.',
      details: { attemptId },
    });
  }
  if (auth.permissions.includes('admin:manage')) {
    return;
  }
  throw new AppError('CALLBACK_SECRET_REQUIRED', {
    status: 403,
    message: `The report requires the callback secret of the attempt, as callbackSecret or in ${callbackSecretHeader}.`,
    details: { attemptId, header: callbackSecretHeader },
  });
}

/** The secret a report was sent with: the body's, else the header's. @throws AppError 400 when it cannot be one */
export function secretOf(body: string | undefined, header: string | undefined): string | undefined {
  const presented = body ?? header;
  if (presented === undefined || presentedSecret.safeParse(presented).success) {
    return presented;
  }
  throw validationError([{ path: callbackSecretHeader, message: 'must have 1 to 200 characters' }]);
}

/** Issues another secret for an attempt whose launch had no response, or whose secret is lost or leaked. */
export async function renewCallbackSecret(
  context: WorkflowContext,
  { taskId, attemptId, actor }: { taskId: string; attemptId: string; actor: string },
): Promise<z.infer<typeof renewedCallback>> {
  const { provider, completion, state } = await verifiedAttempt(context, { taskId, attemptId });
  if (provider !== 'remote-callback') {
    throw conflict('Only a remote agent has a callback secret.', { attemptId, provider }, 'NOT_REMOTE_CALLBACK');
  }
  if (completion) {
    throw conflict('The run has already ended.', { attemptId, state }, 'RUN_ENDED');
  }
  const { secret, issuedAt } = await context.callbackSecrets.renew(attemptId, actor);
  return { attemptId, issuedAt, callback: callbackOf(taskId, secret) };
}
