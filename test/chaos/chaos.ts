import { statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { makeTempDir } from '../../platform/testing/temp-dir';
import { scriptAgent } from '../support/caller';
import { aRepository } from '../support/repository';
import { startService } from '../support/service';
import { findProblems } from './invariants';
import { keepLaunching } from './lanes';
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
  /** Where everything lies that may explain the problems; nothing is left behind when there are none. */
  dataDir?: string;
}

const longestPauseMs = 1_500;
const shortestPauseMs = 100;
/** How many strikes come whatever has happened since the last one: those that meet parts which are still starting. */
const blindShare = 1 / 4;
/** How long the others wait for an agent to start or end, in milliseconds: only then is there something to lose again. */
const progressWithinMs = 15_000;

/** How much agents have told of their starts and ends. */
const witnessed = (witness: string): number => statSync(witness).size;

/** Waits for an agent to start or end, but not for ever: everything may be waiting for what was killed. */
async function untilProgress(witness: string, seen: number): Promise<void> {
  const deadline = performance.now() + progressWithinMs;
  while (witnessed(witness) === seen && performance.now() < deadline) await delay(25);
}

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
  let found = 0;
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
    const course = { taskIds, over: () => count() >= kills };
    const launching = Promise.all(
      Array.from({ length: concurrency }, (_, index) => keepLaunching(service, `lane-${index}`, course).catch(String)),
    );
    let seen = witnessed(witness);
    while (count() < kills) {
      await delay(shortestPauseMs + random() * (longestPauseMs - shortestPauseMs));
      if (random() >= blindShare) await untilProgress(witness, seen);
      seen = witnessed(witness);
      const victim = pickVictim(random());
      if (!(await strike(service, victim, witness, random))) continue;
      done[victim] += 1;
      report(`${count()}/${kills} killed: ${victim} (${taskIds.length} runs so far)`);
    }
    const stuck = (await launching).filter((problem) => problem !== undefined);
    const { problems, attempts } = await findProblems(service, { taskIds, witness, repository });
    problems.unshift(...stuck);
    found = problems.length;
    const endings: Record<string, number> = {};
    for (const { completion } of attempts.flat()) {
      const status: string = completion?.status ?? 'none';
      endings[status] = (endings[status] ?? 0) + 1;
    }
    const seconds = Math.round((performance.now() - startedAt) / 1000);
    const totals = { kills: done, runs: taskIds.length, attempts: attempts.flat().length, endings, problems, seconds };
    return found > 0 ? { ...totals, dataDir: service.dataDir } : totals;
  } finally {
    if (found === 0) await service.close();
    else await service.stop();
    await files.remove();
  }
}
