import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Goal } from '../../../contracts/governance/goals/goal';
import { eventually } from '../../../platform/testing/eventually';
import { type Caller, scriptAgent } from '../caller';
import { changeFeatures } from '../change-features';
import { aGoal } from '../factories/goal';

/** An agent that completes its goal with its n-th run. */
export const pursuer = (dir: string, type: string, lastTurn: number, pauseMs = 0) => ({
  ...scriptAgent('goals/pursuer', witnessIn(dir), String(lastTurn), String(pauseMs)),
  type,
  name: type,
});

const witnessIn = (dir: string): string => join(dir, 'pursued.jsonl');

/** What one start of the agent has seen. */
export interface Turn {
  task: string;
  attempt: string;
  edge: string | null;
  message?: string;
}

/** Every start of the agent for a task, in order. */
export const turnsOf = (dir: string, taskId: string): Turn[] =>
  readFileSync(witnessIn(dir), 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Turn)
    .filter(({ task }) => task === taskId);

/** Continuations without a person, as far as the cap of a run goes. */
export const allowContinuations = (call: Caller, fields: object = {}) =>
  changeFeatures(call, {
    watcher: { enabled: true, globalKillSwitch: false, defaultMode: 'auto', maxContinuationsPerRun: 10, ...fields },
  });

/** A goal whose first run is linked while the agent is at work or after that. */
export async function aPursuedGoal(
  call: Caller,
  agent: string,
  fields: object = {},
): Promise<{ goalId: string; taskId: string; attemptId: string }> {
  const { id: taskId } = await call.createTask({ title: 'Pursued', git: { repo: 'sample' } });
  const body = aGoal(taskId, { continuation: { mode: 'automatic' }, ...fields });
  const { id: goalId, revision } = await call.ok('POST', '/api/goals', body);
  const { attemptId } = await call.start(taskId, { agent });
  await call.ok('POST', `/api/goals/${goalId}/runs`, { expectedRevision: revision, taskId, attemptId });
  return { goalId, taskId, attemptId };
}

export const readGoal = (call: Caller, goalId: string): Promise<Goal> => call.ok('GET', `/api/goals/${goalId}`);

/** The goal once it is in the state. */
export const goalIn = (call: Caller, goalId: string, state: Goal['state']): Promise<Goal> =>
  eventually(
    async () => {
      const goal = await readGoal(call, goalId);
      expect([goal.state, goal.transitions.at(-1)?.reason]).toEqual([state, expect.anything()]);
      return goal;
    },
    { withinMs: 60_000 },
  );
