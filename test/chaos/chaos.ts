import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { eventually } from '../../platform/testing/eventually';
import { makeTempDir } from '../../platform/testing/temp-dir';
import { scriptAgent } from '../support/caller';
import { aRepository } from '../support/repository';
import { startService, type Service } from '../support/service';
import { findProblems } from './invariants';
import { seededRandom } from './random';
import { pickVictim, strike, victims, type Victim } from './victims';

export interface ChaosOptions {
  kills: number;
  /** Makes the order of victims and the pauses repeatable; what they meet is not. */
  seed: number;
  /** Runs at a time; half of them wait in the queue. */
  concurrency: number;
  report?: (line: string) => void;
}

export interface ChaosReport {
  kills: Record<Victim, number>;
  runs: number;
  attempts: number;
  /** Attempts by how they ended. */
  endings: Record<string, number>;
  /** What should not have happened; empty when all is well. */
  problems: string[];
  seconds: number;
}

const longestPauseMs = 1_500;
const shortestPauseMs = 100;

/** A call that may meet a dead process, repeated as a caller with an idempotency key does. */
const persistently = <T>(call: () => Promise<T>): Promise<T> => eventually(call, { withinMs: 120_000, everyMs: 200 });

/** Launches one run after another until it is told that it is over, and waits for each to end for good. */
async function keepLaunching(service: Service, name: string, taskIds: string[], over: () => boolean): Promise<void> {
  for (let round = 1; !over(); round += 1) {
    const task = await persistently(() =>
      service.call.createTask({ title: `${name} ${round}`, git: { repo: 'sample' } }),
    );
    taskIds.push(task.id);
    const key = { 'x-idempotency-key': `chaos-${name}-${round}` };
    await persistently(() => service.call.start(task.id, {}, key));
    await untilEnded(service, task.id);
  }
}

/** Until no attempt of the task runs, and none is due to follow. */
const untilEnded = (service: Service, taskId: string): Promise<void> =>
  eventually(
    async () => {
      const { state, attemptId } = await service.call.status(taskId);
      if (state !== 'ended') throw new Error(`${taskId} is ${state}`);
      const recovery = await service.call.ok('GET', `/api/agents/${taskId}/recovery`);
      if (recovery?.nextAttemptId && recovery.attemptId === attemptId) throw new Error(`${taskId}: a retry is due`);
    },
    { withinMs: 300_000, everyMs: 250 },
  );

/**
 * Runs agents while random processes are killed (`kill -9` of worker, api, Temporal and agents), lets everything come to
 * its end, and says what should not have happened.
 */
export async function runChaos({
  kills,
  seed,
  concurrency,
  report = () => undefined,
}: ChaosOptions): Promise<ChaosReport> {
  const startedAt = performance.now();
  const files = await makeTempDir('chaos');
  const witness = join(files.path, 'witness');
  writeFileSync(witness, '');
  const limit = String(Math.max(1, Math.floor(concurrency / 2)));
  const service = await startService(
    { WITNESS: witness, BOARD_RUN_RETRIES: '3', BOARD_MAX_RUNS: limit },
    { restart: { backoff: { firstMs: 100, maxMs: 1_000 }, healthyAfterMs: 500 } },
  );
  try {
    const repository = await aRepository(files.path);
    await service.call.addRepository('sample', repository);
    await service.call.configureAgents([
      { ...scriptAgent('witnessed-bee', '15', '100'), environmentKeys: ['WITNESS'] },
    ]);
    const taskIds: string[] = [];
    const done: Record<Victim, number> = { worker: 0, agent: 0, api: 0, temporal: 0 };
    const count = (): number => victims.reduce((sum, victim) => sum + done[victim], 0);
    const random = seededRandom(seed);
    const launching = Promise.all(
      Array.from({ length: concurrency }, (_, index) =>
        keepLaunching(service, `lane-${index}`, taskIds, () => count() >= kills),
      ),
    );
    // Its failure is what the whole ends with, below.
    launching.catch(() => undefined);
    while (count() < kills) {
      await delay(shortestPauseMs + random() * (longestPauseMs - shortestPauseMs));
      const victim = pickVictim(random());
      if (!(await strike(service, victim, witness, random))) continue;
      done[victim] += 1;
      report(`${count()}/${kills} killed: ${victim} (${taskIds.length} runs so far)`);
    }
    await launching;
    const { problems, attempts } = await findProblems(service, { taskIds, witness, repository });
    const endings: Record<string, number> = {};
    for (const { completion } of attempts.flat()) {
      const status: string = completion?.status ?? 'none';
      endings[status] = (endings[status] ?? 0) + 1;
    }
    const seconds = Math.round((performance.now() - startedAt) / 1000);
    return { kills: done, runs: taskIds.length, attempts: attempts.flat().length, endings, problems, seconds };
  } finally {
    await service.close();
    await files.remove();
  }
}
