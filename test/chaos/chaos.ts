import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { SupervisedPart } from '../../platform/processes/parts/supervise-process';
import { makeTempDir } from '../../platform/testing/temp-dir';
import { aRepository } from '../support/git/repository';
import { type Service, startService } from '../support/stack/service';
import { castOf } from './cast';
import { check } from './check/check';
import { recoveryTimes } from './check/recovery-times';
import { assertSmallDisk } from './full-disk';
import { type Course, keepPlaying, untilEnded } from './lanes';
import { type Ledger, openLedger } from './ledger';
import { seededRandom } from './random';
import { keepSecondWorker } from './second-worker';
import { lasting, pickStrike, type Strike, strike, type Targets } from './victims';

export interface ChaosOptions {
  /** Ends after so many strikes, or after so many minutes, whichever is given. */
  strikes?: number;
  minutes?: number;
  /** Strikes come so often, in seconds; at random, and mostly after an agent has started or ended, when absent. */
  everySeconds?: number;
  /** Makes the order of scenarios, strikes and pauses repeatable; what they meet is not. */
  seed: number;
  /** Callers at a time; half of their runs wait in the queue. */
  concurrency: number;
  /** A directory on a small disk of its own, which the service then lives on, and which is filled now and then. */
  disk?: string;
  report?: (line: string) => void;
}

export interface ChaosReport {
  strikes: Partial<Record<Strike, number>>;
  /** Scenarios that callers played, by what they are. */
  played: Record<string, number>;
  tasks: number;
  attempts: number;
  /** Attempts by how they ended. */
  endings: Record<string, number>;
  /** From the death of a worker to the next attempt of a task it was at work on, in milliseconds. */
  recovery: { n: number; p50: number; worst: number };
  /** What should not have happened; empty when all is well. */
  problems: string[];
  seconds: number;
  /** Where everything lies that may explain the problems; nothing is left behind when there are none. */
  dataDir?: string;
  ledger?: string;
}

const longestPauseMs = 1_500;
const shortestPauseMs = 100;
/** How many strikes come whatever has happened since the last one: those that meet parts which are still starting. */
const blindShare = 1 / 4;
/** How long the others wait for an agent to start or end, in milliseconds: only then is there something to lose again. */
const progressWithinMs = 15_000;

/**
 * Has agents run and callers call while random processes are killed and paused and the disk is full at times, lets everything
 * come to its end, and returns what should not have happened.
 */
export async function runChaos(options: ChaosOptions): Promise<ChaosReport> {
  const startedAt = performance.now();
  const files = await makeTempDir('chaos');
  const ledger = openLedger(join(files.path, 'ledger'));
  const { disk } = options;
  if (disk !== undefined) {
    assertSmallDisk(disk);
  }
  const home = await mkdtemp(join(disk ?? files.path, 'home-'));
  const settings = {
    LEDGER: ledger.file,
    BOARD_RUN_RETRIES: '3',
    BOARD_MAX_RUNS: String(Math.max(1, Math.floor(options.concurrency / 2))),
  };
  const service = await startService(settings, { within: home });
  let second: SupervisedPart | undefined;
  let problems: string[] = ['it has not come to its end'];
  try {
    second = await keepSecondWorker(service, settings);
    const repository = await aRepository(home);
    await service.call.addRepository('sample', repository);
    await service.call.configureAgents(castOf());
    const { strikes, course, stuck } = await playWhileStruck(service, second, ledger, options);
    const checked = await check(service, ledger, repository);
    problems = [...stuck, ...checked.problems];
    const endings: Record<string, number> = {};
    for (const { completion, state } of checked.attempts) {
      const status: string = completion?.status ?? state;
      endings[status] = (endings[status] ?? 0) + 1;
    }
    return {
      strikes,
      played: course.played,
      tasks: course.taskIds.length,
      attempts: checked.attempts.length,
      endings,
      recovery: summaryOf(recoveryTimes(ledger.read(), checked.attempts)),
      problems,
      seconds: Math.round((performance.now() - startedAt) / 1000),
      ...(problems.length > 0 ? { dataDir: service.dataDir, ledger: ledger.file } : {}),
    };
  } finally {
    await second?.stop();
    ledger.close();
    if (problems.length > 0) {
      await service.stop();
    } else {
      await service.close();
      await rm(home, { recursive: true, force: true });
      await files.remove();
    }
  }
}

async function playWhileStruck(service: Service, second: SupervisedPart, ledger: Ledger, options: ChaosOptions) {
  const { strikes: wanted, minutes, everySeconds, seed, concurrency, disk, report = () => undefined } = options;
  const startedAt = performance.now();
  const strikes: Partial<Record<Strike, number>> = {};
  const count = (): number => Object.values(strikes).reduce((sum, times) => sum + times, 0);
  const elapsedMs = (): number => performance.now() - startedAt;
  const over = (): boolean => (minutes === undefined ? count() >= (wanted ?? 0) : elapsedMs() >= minutes * 60_000);
  const random = seededRandom(seed);
  const targets: Targets = {
    ledger,
    random,
    disk,
    pidOf: (part) => (part === 'second worker' ? second.pid() : (service.pids()[part] ?? 0)),
  };
  const course: Course = { service, ledger, taskIds: [], played: {}, seed, over };
  const playing = Promise.all(
    Array.from({ length: concurrency }, (_, lane) =>
      keepPlaying(course, lane).catch((error: unknown) => String(error)),
    ),
  );
  let seen = ledger.turns();
  while (!over()) {
    if (everySeconds === undefined) {
      await delay(shortestPauseMs + random() * (longestPauseMs - shortestPauseMs));
      if (random() >= blindShare) {
        await untilProgress(ledger, seen);
      }
    } else {
      await delay(everySeconds * 1_000);
    }
    seen = ledger.turns();
    const what = pickStrike(random(), targets);
    if (!(await strike(what, targets))) {
      continue;
    }
    strikes[what] = (strikes[what] ?? 0) + 1;
    report(`${Math.round(elapsedMs() / 1000)} s, ${count()}: ${what} (${course.taskIds.length} tasks so far)`);
  }
  await Promise.all(lasting);
  const stuck = (await playing).filter((problem) => problem !== undefined);
  for (const taskId of course.taskIds) {
    const standing = await untilEnded(service, taskId, { over });
    if (standing !== undefined) {
      stuck.push(standing);
    }
  }
  return { strikes, course, stuck };
}

/** Waits for an agent to start or end, but not for ever: everything may be waiting for what was struck. */
async function untilProgress(ledger: Ledger, seen: number): Promise<void> {
  const deadline = performance.now() + progressWithinMs;
  while (ledger.turns() === seen && performance.now() < deadline) {
    await delay(50);
  }
}

function summaryOf(times: number[]): ChaosReport['recovery'] {
  const sorted = times.toSorted((a, b) => a - b);
  return { n: sorted.length, p50: sorted[Math.floor(sorted.length / 2)] ?? 0, worst: sorted.at(-1) ?? 0 };
}
