import { Client, ScheduleNotFoundError } from '@temporalio/client';
import { createLog } from '../../platform/log/log';
import type { KeptSchedule } from '../../platform/temporal/ensure-schedule';
import { ensureSearchAttributes } from '../../platform/temporal/ensure-search-attributes';
import { eventually } from '../../platform/testing/eventually';
import { listSchedules, reconcileSchedules } from '../../workflows/clients/listed-schedules';
import { ensureSchedules } from '../../workflows/clients/schedules';
import { workspaceClient } from '../../workflows/clients/workspace-client';
import { registerNamespace } from '../support/stack/own-namespace';
import { type TestTemporal, testTemporal } from '../support/stack/temporal';

describe('the Schedules of workspaces', () => {
  const log = createLog({ name: 'test', level: 'silent' });
  const other = 'ws-other';
  let temporal: TestTemporal;
  let local: Client;
  let clients: Record<string, Client>;

  beforeAll(async () => {
    temporal = await testTemporal();
    const { connection } = temporal.client;
    const namespace = await registerNamespace(connection);
    await ensureSearchAttributes(connection, namespace, { log });
    local = new Client({ connection, namespace });
    clients = { local, [other]: workspaceClient(local, other) };
  });
  afterAll(() => temporal.close());

  const aSchedule = (name: string): KeptSchedule => ({
    scheduleId: `kept/${name}`,
    spec: { intervals: [{ every: '1 day' }] },
    paused: false,
    note: 'revision 1',
    action: { workflowType: 'none', taskQueue: 'none', args: [name], staticSummary: name },
  });
  const isOfKind = (id: string) => id.startsWith('kept/');
  const reconcile = async (workspaceId: string, expected: KeptSchedule[]) => {
    const listed = (await listSchedules(local))(workspaceId);
    await reconcileSchedules(clients[workspaceId]!, { listed, isOfKind, expected, log });
  };
  const notes = async (workspaceId: string) =>
    Object.fromEntries([...(await listSchedules(local))(workspaceId)].filter(([id]) => isOfKind(id)));
  /** How often a piece of work calls methods of the schedule service. */
  async function callsDuring(work: () => Promise<void>): Promise<Record<string, number>> {
    const methods = [
      'createSchedule',
      'describeSchedule',
      'updateSchedule',
      'deleteSchedule',
      'listSchedules',
    ] as const;
    const spies = methods.map((method) => jest.spyOn(local.workflowService, method));
    try {
      await work();
      return Object.fromEntries(methods.map((method, index) => [method, spies[index]!.mock.calls.length]));
    } finally {
      spies.forEach((spy) => spy.mockRestore());
    }
  }

  it('are listed once for all of them, and are left alone as long as they match', async () => {
    const schedules = { local: [aSchedule('a'), aSchedule('b')], [other]: [aSchedule('a')] };
    for (const [workspaceId, expected] of Object.entries(schedules)) {
      await ensureSchedules(clients[workspaceId]!, new Map());
      await reconcile(workspaceId, expected);
    }
    await eventually(async () => {
      expect(await notes('local')).toEqual({ 'kept/a': 'revision 1', 'kept/b': 'revision 1' });
      expect(await notes(other)).toEqual({ 'kept/a': 'revision 1' });
    });
    await eventually(async () => {
      const calls = await callsDuring(async () => {
        const listedOf = await listSchedules(local);
        for (const [workspaceId, expected] of Object.entries(schedules)) {
          const listed = listedOf(workspaceId);
          await ensureSchedules(clients[workspaceId]!, listed);
          await reconcileSchedules(clients[workspaceId]!, { listed, isOfKind, expected, log });
        }
      });
      expect(calls).toEqual({
        createSchedule: 0,
        describeSchedule: 0,
        updateSchedule: 0,
        deleteSchedule: 0,
        listSchedules: 1,
      });
    });
  });

  it('are made, changed and removed as their records have it', async () => {
    const [stale, gone] = [aSchedule('stale'), aSchedule('gone')];
    await reconcile(other, [stale, gone]);
    await eventually(async () => expect(await notes(other)).toMatchObject({ 'kept/gone': 'revision 1' }));
    await reconcile(other, [{ ...stale, note: 'revision 2', paused: true }, aSchedule('new')]);
    const handle = (name: string) => clients[other]!.schedule.getHandle(`kept/${name}`);
    // An update is a signal, which the next description may come before.
    await eventually(async () => {
      expect((await handle('stale').describe()).state).toMatchObject({ paused: true, note: 'revision 2' });
    });
    expect((await handle('new').describe()).state).toMatchObject({ paused: false, note: 'revision 1' });
    await expect(handle('gone').describe()).rejects.toThrow(ScheduleNotFoundError);
  });
});
