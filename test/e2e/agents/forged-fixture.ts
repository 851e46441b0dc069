import { updateProofMs } from '../../../platform/crypto/message-proof';
import { eventually } from '../../../platform/testing/eventually';
import { boardQueue } from '../../../workflows/queues';
import { scriptAgent } from '../../support/caller';
import { aRepository } from '../../support/git/repository';
import { type Stack, startStack } from '../../support/stack/stack';

/** How runs of the attacked stack are timed where a message states it. */
export const timings = { runTimeoutMs: 60_000, heartbeatTimeoutMs: 2_000, retryBackoffMs: 10 };

/** A service whose Temporal server an attacker reaches, and one of its tasks. */
export async function attackedStack(): Promise<{ stack: Stack; taskId: string }> {
  const stack = await startStack({ BOARD_EDITOR_COMMAND: '["touch", "opened"]', BOARD_RETRY_BACKOFF_MS: '600000' });
  await stack.call.addRepository('sample', await aRepository(stack.dir));
  await stack.call.configureAgents([
    scriptAgent('worker-bee'),
    { ...scriptAgent('worker-bee', '600', '50'), type: 'long-bee' },
    { ...scriptAgent('misbehaving', 'rate-limited'), type: 'limited' },
    { type: 'elsewhere', name: 'Elsewhere', provider: 'remote-callback' },
  ]);
  const { id: taskId } = await stack.call.createTask({ title: 'Attacked', git: { repo: 'sample' } });
  return { stack, taskId };
}

/** Updates as any client that reaches Temporal can send them. */
export const sendUpdates = (
  { temporal }: Stack,
  workflowId: string,
  updates: Record<string, object>,
): Promise<unknown> =>
  Promise.all(
    Object.entries(updates).map(([name, input]) =>
      temporal.workflow.getHandle(workflowId).executeUpdate(name, { args: [input] }),
    ),
  );

/** When a proof was issued that has expired by now. */
export const longAgo = () => new Date(Date.now() - 2 * updateProofMs);

/** A run of an agent that takes its time. */
export async function aRun({ call }: Stack, agent: string): Promise<{ taskId: string; attemptId: string }> {
  const task = await call.createTask({ title: agent, git: { repo: 'sample' } });
  const { attemptId } = await call.start(task.id, { agent });
  await eventually(async () => expect((await call.status(task.id)).state).toBe('running'));
  return { taskId: task.id, attemptId };
}

/** What the audit log has of messages that were refused. */
export async function refusals({ call }: Stack): Promise<{ resource: string; details: object }[]> {
  const { entries } = await call.ok('GET', '/api/audit?action=temporal-message.refuse&limit=100');
  return entries;
}

/** Runs a workflow as any client that reaches Temporal can. */
export const runs = ({ temporal }: Stack, type: string, input: object): Promise<unknown> =>
  temporal.workflow.execute(type, {
    workflowId: `attack/${type}/${Math.random()}`,
    taskQueue: boardQueue,
    workflowExecutionTimeout: '30 seconds',
    args: [input],
  });

/** The failure at the end of a chain of causes. */
function rootCause(error: unknown): { type?: string; message: string } {
  return error instanceof Error && error.cause !== undefined ? rootCause(error.cause) : (error as Error);
}
/** Why an outcome was refused. */
export const refused = async (outcome: Promise<unknown>): Promise<unknown> =>
  outcome.then(
    (value) => ({ succeeded: value }),
    (error: unknown) => rootCause(error).type ?? rootCause(error).message,
  );
