import { eventually } from '../../../platform/testing/eventually';
import { latestWorkflow, type Recording, type Stage } from './stage';

/** Has a hook notified of a task that is done, until the hook is deleted. */
export async function hookScenarios({ service: { call }, temporal }: Stage): Promise<Recording[]> {
  // No server listens there: it is retried until there is no such hook any more.
  const action = { type: 'webhook', url: 'http://127.0.0.1:9/told' };
  const { id: hookId } = await call.ok('POST', '/api/hooks', { name: 'Tell', event: 'task.done', action });
  const { id } = await call.createTask({ title: 'Told of' });
  await call.ok('PATCH', `/api/tasks/${id}`, { status: 'done' });
  const workflow = await latestWorkflow(temporal, 'taskTransition');
  await call.ok('DELETE', `/api/hooks/${hookId}`);
  return [['task-transition', workflow]];
}

/** Hooks that an operator cancels while one of them waits for its next attempt. */
export async function cancelledHookScenarios({ service: { call }, temporal }: Stage): Promise<Recording[]> {
  const action = { type: 'webhook', url: 'http://127.0.0.1:9/notified' };
  const { id: hookId } = await call.ok('POST', '/api/hooks', { name: 'Notify', event: 'task.done', action });
  const { id } = await call.createTask({ title: 'Cancelled' });
  await call.ok('PATCH', `/api/tasks/${id}`, { status: 'done' });
  const handle = temporal.workflow.getHandle(await latestWorkflow(temporal, 'taskTransition'));
  await eventually(async () => {
    const { raw } = await handle.describe();
    if (!raw.pendingActivities?.some(({ lastFailure }) => lastFailure)) {
      throw new Error('its first attempt has not failed yet');
    }
  });
  await handle.cancel();
  await handle.result();
  await call.ok('DELETE', `/api/hooks/${hookId}`);
  return [['task-transition-cancelled', handle.workflowId]];
}
