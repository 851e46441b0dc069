import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import { Context } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import { Worker } from '@temporalio/worker';
import { createLog } from '../../../platform/log/log';
import { ensureSearchAttributes } from '../../../platform/temporal/ensure-search-attributes';
import { installRuntime } from '../../../platform/temporal/runtime';
import { hostQueue } from '../../../workflows/queues';
import { type TestTemporal, testTemporal } from '../stack/temporal';
import { workflowBundle } from '../stack/workflow-bundle';

/** An activity that a workflow has called, and the queue on which. */
export interface ActivityCall {
  name: string;
  input: Record<string, unknown>;
  taskQueue: string;
}

/** Resolves for the activities of a test that is over. */
const testOver = new AsyncLocalStorage<Promise<void>>();

/** An agent, or another activity, that runs until it is cancelled. */
export const untilCancelled = async (): Promise<void> => {
  const context = Context.current();
  const beat = setInterval(() => context.heartbeat(), 100);
  try {
    await Promise.race([context.cancelled, testOver.getStore()]);
  } catch {
    // Cancelled: the agent has been ended, which is an ordinary end of this activity.
  } finally {
    clearInterval(beat);
  }
};

/** The activities of one test, and what its workflows have called of them. */
export class Stubs {
  readonly calls: ActivityCall[] = [];
  /** Ends the activities that a test has left waiting. */
  release: () => void = () => undefined;
  private readonly released = new Promise<void>((resolve) => (this.release = resolve));

  constructor(private readonly activities: object) {}

  async run(call: ActivityCall): Promise<unknown> {
    const stub = (this.activities as Record<string, ((input: object) => Promise<unknown>) | undefined>)[call.name];
    this.calls.push(call);
    if (!stub) {
      throw ApplicationFailure.nonRetryable(`The test expects no ${call.name}.`, 'UNEXPECTED');
    }
    return Promise.race([testOver.run(this.released, () => stub(call.input)), this.released]);
  }

  names(): string[] {
    return this.calls.map(({ name }) => name);
  }

  /** The inputs of the calls of one activity. */
  inputs(name: string): Record<string, unknown>[] {
    return this.calls.filter((call) => call.name === name).map(({ input }) => input);
  }
}

/** What an activity is called for: an attempt, a task, a delivery or, by `id` or as its only argument, something else. */
interface Subject {
  attemptId?: string;
  taskId?: string;
  deliveryId?: string;
  id?: string;
}

/** A worker of the board and one of a host, which the tests of a file share: creating one costs half a second of CPU. */
export interface StubbedWorkers {
  readonly temporal: TestTemporal;
  readonly boardQueue: string;
  readonly hostId: string;
  readonly hostQueue: string;
  /** Has the activities that are called for these ids run the stubs, until the test is over. */
  use(stubs: Stubs, ids: readonly string[]): void;
  /** Ends a workflow of the test, whatever the test has left of it. */
  terminateAfterwards(workflowId: string): void;
}

/** Starts the workers before the tests of a file, and stops them afterwards. */
export function stubbedWorkers(names: readonly string[]): StubbedWorkers {
  const hostId = `h-${randomUUID()}`;
  const boardQueue = `board-${randomUUID()}`;
  const subjects = new Map<string, Stubs>();
  const workflowIds = new Set<string>();
  let temporal: TestTemporal;
  let workers: Worker[] = [];
  let running: Promise<unknown> = Promise.resolve();

  const activity = (name: string) => (argument: Subject | string) => {
    const input: Subject = typeof argument === 'string' ? { id: argument } : argument;
    const stubs =
      subjects.get(input.attemptId ?? '') ?? subjects.get(input.taskId ?? input.deliveryId ?? input.id ?? '');
    if (!stubs) {
      throw ApplicationFailure.nonRetryable(`No test has an ${name} of what it is called for.`, 'UNEXPECTED');
    }
    return stubs.run({ name, input: { ...input }, taskQueue: Context.current().info.taskQueue });
  };

  beforeAll(async () => {
    installRuntime(createLog({ name: 'test', level: 'error' }));
    temporal = await testTemporal();
    const log = createLog({ name: 'test', level: 'silent' });
    await ensureSearchAttributes(temporal.client.connection, temporal.namespace, { log });
    const common = {
      connection: temporal.nativeConnection,
      namespace: temporal.namespace,
      maxHeartbeatThrottleInterval: 100,
      activities: Object.fromEntries(names.map((name) => [name, activity(name)])),
    };
    workers = [
      await Worker.create({ ...common, taskQueue: boardQueue, workflowBundle }),
      await Worker.create({ ...common, taskQueue: hostQueue(hostId) }),
    ];
    running = Promise.all(workers.map((worker) => worker.run()));
  });

  afterEach(async () => {
    for (const stubs of subjects.values()) {
      stubs.release();
    }
    const end = (id: string) => temporal.client.workflow.getHandle(id).terminate('the test is over');
    await Promise.allSettled([...workflowIds].map(end));
    workflowIds.clear();
    subjects.clear();
  });

  afterAll(async () => {
    for (const worker of workers) {
      worker.shutdown();
    }
    await running;
    await temporal.close();
  });

  return {
    get temporal() {
      return temporal;
    },
    boardQueue,
    hostId,
    hostQueue: hostQueue(hostId),
    use: (stubs, ids) => ids.forEach((id) => subjects.set(id, stubs)),
    terminateAfterwards: (workflowId) => void workflowIds.add(workflowId),
  };
}
