import { join } from 'node:path';
import { createTransitionActions } from '../../activities/deliver-hooks/transition-actions';
import type { HookContext } from '../../contracts/settings/hook';
import type { TransitionAction } from '../../contracts/settings/transition-hook';
import type { Task } from '../../contracts/tasks/task';
import { createLog } from '../../platform/log/log';
import { makeTempDir, type TempDir } from '../../platform/testing/temp-dir';
import type { Board } from '../../stores/board-files/board';
import { createActivityStore } from '../../stores/chat/activity-store';
import { createNotificationStore } from '../../stores/chat/notification-store';
import type { DecisionPoint } from '../../stores/governance/decision-point';
import type { Database } from '../../stores/port/collection';
import { createHookExecutionStore } from '../../stores/settings/hook-store';
import { createTransitionHookStore } from '../../stores/settings/transition-hook-store';
import { openSqlite } from '../../stores/sqlite/database';
import { aTask } from '../support/factories/task';

const context: HookContext = {
  event: 'task.status.changed',
  taskId: 'task_20260101_aaaaaa',
  taskTitle: 'Ship',
  taskType: 'code',
  priority: 'medium',
  agent: 'bee',
  location: 'active',
  previousStatus: 'in-progress',
  newStatus: 'done',
  timestamp: '2026-01-01T00:00:00.000Z',
};

describe('actions of transition rules', () => {
  let dir: TempDir;
  let database: Database;
  let lessonsLearned: string | undefined;
  let sent: { id: string; body: string }[];
  beforeEach(async () => {
    dir = await makeTempDir('actions');
    database = await openSqlite({
      file: join(dir.path, 's.sqlite'),
      log: createLog({ name: 'test', level: 'silent' }),
    });
    lessonsLearned = undefined;
    sent = [];
  });
  afterEach(async () => {
    await database.close();
    await dir.remove();
  });

  async function opened(...actions: TransitionAction[]) {
    const [activity, notifications, executions, transitionHooks] = [
      await createActivityStore(database),
      await createNotificationStore(database),
      await createHookExecutionStore(database),
      await createTransitionHookStore(database),
    ];
    const rule = { id: 'one', name: 'One', enabled: true, from: '*', to: 'done', gates: [], actions } as const;
    await transitionHooks.change(() => ({
      enabled: true,
      rules: [{ ...rule, gates: [], actions }],
      defaultGates: [],
      defaultActions: [],
    }));
    const task: Task = aTask({ id: context.taskId, ...(lessonsLearned === undefined ? {} : { lessonsLearned }) });
    const board = { get: async () => ({ task, location: 'active', path: '' }) } as unknown as Pick<Board, 'get'>;
    const rules = {
      decide: async () => ({ decision: 'allow', reasons: [], warnings: [] }),
    } as unknown as DecisionPoint;
    const webhooks = {
      send: async (_url: URL, { id, body }: { id: string; body: string }) => {
        sent.push({ id, body });
        return { status: 200 };
      },
    };
    const transitions = createTransitionActions({
      ...{ activity, notifications, executions, transitionHooks, board, rules, webhooks },
      now: () => new Date(),
    });
    return { transitions, activity, notifications, executions, transitionHooks };
  }
  const page = { limit: 50 };
  const execution = 'task_20260101_aaaaaa/3/task.status.changed/hook_0';

  it.each<[TransitionAction, string | undefined]>([
    [{ type: 'send-notification' }, undefined],
    [{ type: 'send-notification', message: 'Look.', targetAgent: 'ada' }, 'ada'],
    [{ type: 'prompt-lessons-learned' }, 'bee'],
  ])('notify once, however often %j is run', async (action, agent) => {
    const { transitions, notifications, executions } = await opened(action);
    const [due] = await transitions.due(context);
    // A caller that guesses the key of the notification prevents nothing.
    await notifications.add({ fromAgent: 'mallory', content: 'x', type: 'info', dedupeKey: `transition/${execution}` });
    await transitions.run(due!.id, { executionId: execution, context });
    await transitions.run(due!.id, { executionId: execution, context });
    const { items } = await notifications.list({ undelivered: false, taskId: context.taskId, ...page });
    expect(items).toEqual([expect.objectContaining({ fromAgent: 'system:transition-hooks', type: 'transition' })]);
    expect(items[0]?.targetAgent).toBe(agent);
    expect((await executions.list(page)).items).toMatchObject([
      { state: 'delivered', action: action.type, hookId: due!.id },
    ]);
  });

  it('log one activity, however often they are run', async () => {
    const { transitions, activity } = await opened({ type: 'log-activity' });
    const [due] = await transitions.due(context);
    await transitions.run(due!.id, { executionId: execution, context });
    await transitions.run(due!.id, { executionId: execution, context });
    expect((await activity.list({ ...page, page: 0 })).items).toMatchObject([
      {
        type: 'status_changed',
        actor: 'system:transition-hooks',
        details: { rule: 'One', from: 'in-progress', to: 'done' },
      },
    ]);
  });

  it('do not ask for lessons that are written down', async () => {
    lessonsLearned = 'Measure first.';
    const { transitions, notifications } = await opened({ type: 'prompt-lessons-learned' });
    const [due] = await transitions.due(context);
    await transitions.run(due!.id, { executionId: execution, context });
    expect((await notifications.list({ undelivered: false, ...page })).items).toEqual([]);
  });

  it('send a webhook under the same id with every try', async () => {
    const { transitions } = await opened({ type: 'send-webhook', url: 'https://example.org/a' });
    const [due] = await transitions.due(context);
    await transitions.run(due!.id, { executionId: execution, context });
    await transitions.run(due!.id, { executionId: execution, context });
    expect(sent.map(({ id }) => id)).toEqual([execution, execution]);
    expect(JSON.parse(sent[0]!.body)).toEqual({ hookId: due!.id, hookName: 'One', event: context.event, context });
  });

  it('are not run once their rule has them no more', async () => {
    const { transitions, transitionHooks, activity } = await opened({ type: 'log-activity' });
    const [due] = await transitions.due(context);
    await transitionHooks.change((current) => ({ ...current, enabled: false }));
    await transitions.run(due!.id, { executionId: execution, context });
    expect(await transitions.due(context)).toEqual([]);
    expect((await activity.list({ ...page, page: 0 })).items).toEqual([]);
  });

  it('follow changes of a status only, and leave timers to the change itself', async () => {
    const { transitions } = await opened({ type: 'log-activity' }, { type: 'auto-stop-timer' });
    expect(await transitions.due(context)).toHaveLength(1);
    const { previousStatus: _none, ...created } = context;
    expect(await transitions.due({ ...created, event: 'task.created' })).toEqual([]);
    expect(await transitions.due({ ...context, event: 'task.done' })).toEqual([]);
  });
});
