import type { TransitionGate, TransitionHooks } from '../../contracts/settings/transition-hook';
import type { Task } from '../../contracts/tasks/task';
import { aTask, factoryTime } from '../../test/support/factories/task';
import { judgeTransition } from './gates';

const hooks = (fields: Partial<TransitionHooks>): TransitionHooks => ({
  enabled: true,
  rules: [],
  defaultGates: [],
  defaultActions: [],
  ...fields,
});
const rule = { id: 'one', name: 'One', enabled: true, from: '*', to: 'done', gates: [], actions: [] } as const;
const entry = { id: 'time_1', startTime: factoryTime };
const comment = (text: string) => ({ id: 'comment_1', author: 'ada', text, timestamp: factoryTime, revision: 1 });
const step = (checked: boolean) => ({ id: 'step_1', description: 'Look', checked });
const subtask = (completed: boolean) => ({ id: 'sub_1', title: 'Do', completed, created: factoryTime });

/** For each gate, tasks that lack what it requires, and tasks that have it. */
const cases: Record<TransitionGate, { lacking: Partial<Task>[]; having: Partial<Task>[] }> = {
  'require-agent': {
    lacking: [{}],
    having: [{ agent: 'bee' }, { attempt: { id: 'attempt_aaaaaaaa', agent: 'bee', status: 'running' } }],
  },
  'require-plan': { lacking: [{}, { plan: ' \n' }], having: [{ plan: 'First.' }] },
  'require-verification-complete': {
    lacking: [{ verificationSteps: [step(true), step(false)] }],
    having: [{}, { verificationSteps: [step(true)] }],
  },
  'require-time-tracked': {
    lacking: [
      {},
      {
        timeTracking: {
          entries: [{ ...entry, endTime: factoryTime, duration: 0, durationMs: 0 }],
          totalSeconds: 0,
          isRunning: false,
        },
      },
    ],
    having: [
      {
        timeTracking: {
          entries: [{ ...entry, endTime: factoryTime, durationMs: 1 }],
          totalSeconds: 0,
          isRunning: false,
        },
      },
      { timeTracking: { entries: [entry], totalSeconds: 0, isRunning: true } },
    ],
  },
  'require-closing-comment': {
    lacking: [{}, { comments: [comment(`${' '.repeat(30)}nineteen characters`)] }],
    having: [{ comments: [comment('twenty characters it')] }],
  },
  'require-subtasks-complete': {
    lacking: [{ subtasks: [subtask(true), subtask(false)] }],
    having: [{ subtasks: [] }, { subtasks: [subtask(true)] }],
  },
  'require-blocker-reason': {
    lacking: [{ status: 'blocked' }],
    having: [{ status: 'blocked', blockedReason: { category: 'other' } }, { status: 'done' }],
  },
};

describe('gates of transition rules', () => {
  const all = Object.entries(cases) as [TransitionGate, (typeof cases)[TransitionGate]][];

  it.each(all)('%s refuses tasks that lack it, with what to do', (gate, { lacking }) => {
    for (const fields of lacking) {
      const verdict = judgeTransition(hooks({ defaultGates: [gate] }), 'todo', aTask({ status: 'done', ...fields }));
      expect(verdict).toMatchObject({
        allowed: false,
        failedGates: [gate],
        gateResults: [{ gate, passed: false, rules: ['default'], message: expect.any(String) }],
        errorMessage: expect.stringContaining(gate),
      });
    }
  });

  it.each(all)('%s lets tasks pass that have it', (gate, { having }) => {
    for (const fields of having) {
      const verdict = judgeTransition(hooks({ defaultGates: [gate] }), 'todo', aTask({ status: 'done', ...fields }));
      expect(verdict).toEqual({
        allowed: true,
        gateResults: [{ gate, passed: true, rules: ['default'] }],
        failedGates: [],
      });
    }
  });

  it('lists every gate that failed, once, with the rules that have it', () => {
    const rules = [
      { ...rule, id: 'one', gates: ['require-plan', 'require-agent'] as TransitionGate[] },
      {
        ...rule,
        id: 'two',
        from: ['todo', 'blocked'] as ('todo' | 'blocked')[],
        gates: ['require-plan'] as TransitionGate[],
      },
    ].map((one) => ({ ...one, actions: [] }));
    expect(judgeTransition(hooks({ rules }), 'todo', aTask({ status: 'done' }))).toMatchObject({
      failedGates: ['require-plan', 'require-agent'],
      gateResults: [{ rules: ['one', 'two'] }, { rules: ['one'] }],
    });
  });

  it.each<[string, Partial<TransitionHooks['rules'][number]>, Partial<Task>]>([
    ['another status to come from', { from: 'blocked' }, {}],
    ['another status to go to', { to: ['blocked', 'in-progress'] }, {}],
    ['another type', { taskTypes: ['bug'] }, {}],
    ['another project', { projects: ['shop'] }, { project: 'farm' }],
    ['any project, when the task has none', { projects: ['shop'] }, {}],
    ['nothing, being turned off', { enabled: false }, {}],
  ])('asks no gate of a rule about %s', (_case, fields, task) => {
    const rules = [{ ...rule, gates: ['require-plan' as const], actions: [], ...fields }];
    const verdict = judgeTransition(hooks({ rules }), 'todo', aTask({ status: 'done', ...task }));
    expect(verdict).toEqual({ allowed: true, gateResults: [], failedGates: [] });
  });

  it('asks none while the rules are turned off, nor about a change that leaves the status', () => {
    const off = hooks({ enabled: false, defaultGates: ['require-plan'] });
    expect(judgeTransition(off, 'todo', aTask({ status: 'done' })).allowed).toBe(true);
    expect(judgeTransition(hooks({ defaultGates: ['require-plan'] }), 'done', aTask({ status: 'done' })).allowed).toBe(
      true,
    );
  });
});
