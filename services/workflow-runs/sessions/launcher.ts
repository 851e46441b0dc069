import { WithStartWorkflowOperation } from '@temporalio/client';
import type { WorkflowRunsContext } from '../context';
import { refuse } from '../http/errors';
import { type Acceptance, acceptedUpdate, generationId } from './messages';
import { type Draft, maxMessages } from './session';
import type { sessionGeneration } from './workflow';

/** How long a caller waits for Temporal before it is asked to retry. */
const acceptWithinMs = 10_000;

/**
 * Sends a message to the workflow that adds it to its session and answers it, and waits until it is added.
 *
 * @throws AppError 404 no such session, 409 the session is full, 503 Temporal cannot be reached
 */
export async function sendMessage(
  {
    client,
    taskQueue,
    sessions,
    env,
    log,
  }: Pick<WorkflowRunsContext, 'client' | 'taskQueue' | 'sessions' | 'env' | 'log'>,
  message: Draft,
): Promise<void> {
  const { _id: id, session } = message;
  // A repetition of the request finds its message taken in, or the workflow that does it.
  if (!(await sessions.exchange(id))) {
    await sessions.addDraft(message);
  }
  const startWorkflowOperation = new WithStartWorkflowOperation<typeof sessionGeneration>('sessionGeneration', {
    workflowId: generationId(session, id),
    workflowIdConflictPolicy: 'USE_EXISTING',
    taskQueue,
    args: [{ id, session, maxEvents: env.WORKFLOW_RUNS_MAX_HISTORY_EVENTS }],
  });
  let acceptance: Acceptance;
  try {
    acceptance = await client.withDeadline(Date.now() + acceptWithinMs, () =>
      client.workflow.executeUpdateWithStart(acceptedUpdate, { startWorkflowOperation }),
    );
  } catch (error) {
    log.warn({ err: error, session }, 'session message delivery failed');
    throw refuse(503, 'The message may not have been stored; check the session, and try again.');
  }
  if (acceptance === 'missing') {
    throw refuse(404, 'Session not found.');
  }
  if (acceptance === 'full') {
    throw refuse(409, `A session takes at most ${maxMessages} messages.`);
  }
}
