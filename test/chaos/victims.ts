import { readFileSync } from 'node:fs';
import { findByEnvironment } from '../../platform/processes/identity';
import { eventually } from '../../platform/testing/eventually';
import { kill } from '../support/kill';
import type { Service } from '../support/service';

/** Who is killed how often: an agent's worker and the agent itself are what runs depend on most. */
const weights = { worker: 4, agent: 3, api: 2, temporal: 1 } as const;
export type Victim = keyof typeof weights;
export const victims = Object.keys(weights) as Victim[];

const total = Object.values(weights).reduce((sum, weight) => sum + weight, 0);

export function pickVictim(random: number): Victim {
  let left = random * total;
  return victims.find((victim) => (left -= weights[victim]) < 0) ?? 'worker';
}

/** The attempts that agents have said to have started, in the order they did. */
export function startedAttempts(witness: string): string[] {
  const lines = readFileSync(witness, 'utf8').split('\n');
  return lines.filter((line) => line.startsWith('start ')).map((line) => line.split(' ')[1] ?? '');
}

/** Kills one agent that works, if there is one. */
async function killAgent(witness: string, random: () => number): Promise<boolean> {
  const latest = startedAttempts(witness).slice(-20);
  const found = (await Promise.all(latest.map((id) => findByEnvironment('BOARD_ATTEMPT_ID', id)))).flat();
  const agent = found[Math.floor(random() * found.length)];
  return agent !== undefined && kill(agent.pid);
}

/** Kills a part, and waits for the supervisor to have started it again. */
async function killPart(service: Service, part: Exclude<Victim, 'agent'>): Promise<boolean> {
  const pid = service.pids()[part] ?? 0;
  if (pid === 0 || !kill(pid)) return false;
  await eventually(() => {
    if (service.pids()[part] === pid) throw new Error(`the ${part} has not been started again`);
  });
  return true;
}

/** `false` when there was nobody to kill. */
export const strike = (service: Service, victim: Victim, witness: string, random: () => number): Promise<boolean> =>
  victim === 'agent' ? killAgent(witness, random) : killPart(service, victim);
