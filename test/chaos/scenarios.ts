import { eventually } from '../../platform/testing/eventually';
import type { Service } from '../support/stack/service';
import { createTask, persist, startRun } from './calls';
import { castOf } from './cast';
import type { Ledger } from './ledger';

export interface Scene {
  service: Service;
  ledger: Ledger;
  /** Unique among all scenes of a chaos. */
  name: string;
  random: () => number;
}

/** One thing that callers do; returns the tasks whose runs are to come to their end. */
type Scenario = (scene: Scene) => Promise<string[]>;

const simple =
  (agent: string, request: object = {}): Scenario =>
  async ({ service, ledger, name }) => {
    const task = await createTask(service, ledger, name);
    await startRun(service, ledger, task, { agent, ...request }, `start-${name.replaceAll(' ', '-')}`);
    return [task];
  };

/** A second start while the first one runs, and one of an unknown agent, are refused and change nothing. */
const refusedStarts: Scenario = async ({ service, ledger, name }) => {
  const key = name.replaceAll(' ', '-');
  const task = await createTask(service, ledger, name);
  await startRun(service, ledger, task, { agent: 'nobody' }, `unknown-${key}`);
  await startRun(service, ledger, task, { agent: 'working' }, `start-${key}`);
  await startRun(service, ledger, task, { agent: 'working' }, `second-${key}`);
  return [task];
};

/** People change the task while its run is at work; what they decide about its status stays. */
const changedByPeople: Scenario = async ({ service, ledger, name, random }) => {
  const task = await createTask(service, ledger, name);
  const run = await startRun(service, ledger, task, { agent: 'working' }, `start-${name.replaceAll(' ', '-')}`);
  await persist(service, 'PATCH', `/api/tasks/${task}`, { description: `about ${name}` });
  if (random() < 0.5 && run?.status === 'running') {
    const { status } = await persist(service, 'PATCH', `/api/tasks/${task}`, { status: 'blocked' });
    if (status < 400) {
      ledger.caller('decided', { task, status: 'blocked' });
    }
  }
  return [task];
};

/** A launch that waits in the queue is ended before it runs, if it waits. */
const queuedCancel: Scenario = async ({ service, ledger, name }) => {
  const key = name.replaceAll(' ', '-');
  const task = await createTask(service, ledger, name);
  const run = await startRun(service, ledger, task, { agent: 'working' }, `start-${key}`);
  if (run?.queueId === undefined) {
    return [task];
  }
  const reason = { idempotencyKey: `cancel-queued-${key}`, reason: 'not wanted any more' };
  const { status } = await persist(service, 'POST', `/api/admission/queue/${run.queueId}/cancel`, reason);
  if (status < 400) {
    ledger.caller('cancelled', { task, attempt: run.attempt });
  }
  return [task];
};

/** A run starts another one on another task, and is its parent. */
const child: Scenario = async ({ service, ledger, name }) => {
  const key = name.replaceAll(' ', '-');
  const task = await createTask(service, ledger, name);
  const parent = await startRun(service, ledger, task, { agent: 'working' }, `start-${key}`);
  if (parent === undefined) {
    return [task];
  }
  const other = await createTask(service, ledger, `${name} child`);
  const request = { agent: 'fast', parentAttemptId: parent.attempt };
  await startRun(service, ledger, other, request, `child-${key}`);
  return [task, other];
};

/** The agent of a run that failed is disabled before its retry: the retry is refused, and the task is free again. */
const refusedRetry: Scenario = async ({ service, ledger, name }) => {
  const task = await createTask(service, ledger, name);
  await startRun(service, ledger, task, { agent: 'doomed' }, `start-${name.replaceAll(' ', '-')}`);
  await eventually(
    () => {
      if (!ledger.agents().some((line) => line.task === task)) {
        throw new Error('its agent has not been started');
      }
    },
    { withinMs: 60_000, everyMs: 200 },
  ).catch(() => undefined);
  await configure(service, { doomed: false });
  await eventually(
    async () => {
      const { body } = await persist(service, 'GET', `/api/agents/${task}/recovery`);
      if (['scheduled', 'launching'].includes(body?.state)) {
        throw new Error('its retry is due');
      }
    },
    { withinMs: 20_000, everyMs: 250 },
  ).catch(() => undefined);
  await configure(service, { doomed: true });
  return [task];
};

const configure = (service: Service, cast: { doomed: boolean }): Promise<unknown> =>
  persist(service, 'PUT', '/api/config/agents', { agents: castOf(cast) });

/** How often each scenario is played. */
const played: readonly (readonly [number, string, Scenario])[] = [
  [8, 'working', simple('working')],
  [4, 'fast', simple('fast')],
  [2, 'explore', simple('explorer', { phase: 'explore' })],
  [2, 'frail', simple('frail')],
  [2, 'refused starts', refusedStarts],
  [3, 'changed by people', changedByPeople],
  [3, 'cancelled in the queue', queuedCancel],
  [2, 'child', child],
];

const total = played.reduce((sum, [weight]) => sum + weight, 0);

/** What is played next. @param exclusive whether this caller may change the configuration, as one at a time may */
export function pickScenario(random: number, exclusive: boolean): { kind: string; play: Scenario } {
  if (exclusive && random < 0.25) {
    return { kind: 'refused retry', play: refusedRetry };
  }
  let left = random * total;
  const [, kind, play] = played.find(([weight]) => (left -= weight) < 0) ?? played[0]!;
  return { kind, play };
}
