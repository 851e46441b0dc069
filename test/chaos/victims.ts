import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { kill } from '../support/processes/kill';
import { fillDisk } from './full-disk';
import type { Ledger } from './ledger';

/** What is done to whom, and how often: a run depends most on the worker of its agent and on the agent itself. */
const weights = {
  'kill worker': 6,
  'kill second worker': 3,
  'kill agent': 4,
  'kill api': 3,
  'kill temporal': 1,
  'pause worker': 2,
  'pause second worker': 1,
  'pause api': 1,
  'fill the disk': 1,
} as const;
export type Strike = keyof typeof weights;
export const strikes = Object.keys(weights) as Strike[];

/** Every so many pauses one is as long as any timer of the service. */
const longPauseShare = 1 / 6;
const longPauseMs = 40_000;
const shortPauseMs = { least: 500, most: 8_000 };
const fullDiskMs = { least: 1_000, most: 10_000 };

export interface Targets {
  ledger: Ledger;
  /** The process that runs as a part now; 0 when there is none. */
  pidOf(part: 'worker' | 'second worker' | 'api' | 'temporal'): number;
  /** A directory on a disk of its own that may be filled, if there is one. */
  disk?: string | undefined;
  random: () => number;
}

export function pickStrike(random: number, targets: Targets): Strike {
  const possible = strikes.filter((strike) => targets.disk !== undefined || strike !== 'fill the disk');
  let left = random * possible.reduce((sum, strike) => sum + weights[strike], 0);
  return possible.find((strike) => (left -= weights[strike]) < 0) ?? 'kill worker';
}

/** What lasts after a strike, such as a pause; all of it is over before the final check. */
export const lasting = new Set<Promise<unknown>>();
const paused = new Set<string>();

/** @returns whether there was a process to strike */
export async function strike(what: Strike, targets: Targets): Promise<boolean> {
  if (what === 'fill the disk') {
    return beginFullDisk(targets);
  }
  if (what === 'kill agent') {
    return killAgent(targets);
  }
  const part = what.slice(what.indexOf(' ') + 1) as Parameters<Targets['pidOf']>[0];
  if (paused.has(part)) {
    return false;
  }
  const pid = targets.pidOf(part);
  if (pid === 0) {
    return false;
  }
  if (what.startsWith('pause')) {
    return pause(part, pid, targets);
  }
  if (!kill(pid)) {
    return false;
  }
  targets.ledger.strike(what, pid);
  return true;
}

const between = ({ least, most }: { least: number; most: number }, random: number): number =>
  Math.round(least + (most - least) * random);

/** Pauses a process and resumes it later; everything else continues meanwhile. */
function pause(part: string, pid: number, { ledger, random }: Targets): boolean {
  const pauseMs = random() < longPauseShare ? longPauseMs : between(shortPauseMs, random());
  if (!signal(pid, 'SIGSTOP')) {
    return false;
  }
  ledger.strike(`pause ${part}`, pid);
  paused.add(part);
  last(
    delay(pauseMs).then(() => {
      signal(pid, 'SIGCONT');
      paused.delete(part);
    }),
  );
  return true;
}

function signal(pid: number, name: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, name);
  } catch {
    return false;
  }
}

function last(work: Promise<unknown>): void {
  lasting.add(work);
  void work.finally(() => lasting.delete(work));
}

let full = false;

function beginFullDisk({ disk, ledger, random }: Targets): boolean {
  if (disk === undefined || full) {
    return false;
  }
  full = true;
  ledger.strike('fill the disk', 0);
  last(fillDisk(disk, between(fullDiskMs, random())).finally(() => (full = false)));
  return true;
}

/** Kills one agent that works, if there is one: found by what agents wrote of themselves. */
function killAgent({ ledger, random }: Targets): boolean {
  const lines = ledger.agents();
  const ended = new Set(lines.filter(({ what }) => what === 'end').map(({ attempt }) => attempt));
  const working = lines.filter(({ what, attempt, pid, startTime }) => {
    return what === 'start' && !ended.has(attempt) && startTimeOf(pid ?? 0) === startTime;
  });
  const agent = working[Math.floor(random() * working.length)];
  if (!agent?.pid || !kill(agent.pid)) {
    return false;
  }
  ledger.strike('kill agent', agent.pid);
  return true;
}

/** Of a process that is there, in clock ticks since boot; read as the agents read it, not by the service's own code. */
export function startTimeOf(pid: number): string | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return 'ZX'.includes(fields[0] ?? 'Z') ? undefined : fields[19];
  } catch {
    return undefined;
  }
}
