import type { Ceremony } from '../../contracts/governance/ceremony';
import type { Task, TaskAttempt } from '../../contracts/tasks/task';
import { aTask } from '../../test/support/factories/task';
import { isEnforced, neededKinds, unmetCeremonies } from './requirements';

const at = (hour: number) => `2026-11-22T${String(hour).padStart(2, '0')}:00:00.000Z`;
const now = new Date(at(12));
const attempt: TaskAttempt = { id: 'attempt_ab12cd34', agent: 'ant', status: 'failed', ended: at(5) };

const aCeremony = (fields: Partial<Ceremony> = {}): Ceremony => ({
  id: 'ceremony_000000000000',
  kind: 'design_review',
  enforcementMode: 'warn',
  reason: '',
  target: { taskId: aTask().id },
  trigger: 'manual',
  participants: [],
  requiredArtifacts: [],
  status: 'pending',
  artifacts: [],
  actionItems: [],
  createdAt: at(1),
  updatedAt: at(1),
  ...fields,
});
const modes = (ceremonyDesignReview: 'off' | 'warn' | 'block', retrospective: 'off' | 'warn' | 'block' = 'off') => ({
  ceremonyDesignReview,
  ceremonyFailureRetrospective: retrospective,
  workspaceTrust: 'off' as const,
});
const unmet = (task: Task, held: Ceremony[], enforcement = modes('block', 'block')) =>
  unmetCeremonies(task, { held, enforcement, now }).map(({ mode, ceremony: { kind } }) => `${kind} ${mode}`);

describe('ceremony requirements', () => {
  it.each<[string, Task['priority'], boolean]>([
    ['code', 'critical', true],
    ['feature', 'high', true],
    ['code', 'medium', true],
    ['bug', 'low', true],
    ['research', 'critical', false],
    ['content', 'high', false],
  ])('reviews the design of a task of type %s with %s priority: %s', (type, priority, needed) => {
    expect(unmet(aTask({ type, priority }), [])).toEqual(needed ? ['design_review block'] : []);
  });

  it.each<[TaskAttempt['result'], boolean]>([
    ['failed', true],
    ['partial', true],
    ['interrupted', false],
    ['blocked', false],
    ['success', false],
    [undefined, false],
  ])('looks back at a last attempt that ended as %p: %s', (result, needed) => {
    expect(unmet(aTask({ type: 'research', attempt: { ...attempt, result } }), [])).toEqual(
      needed ? ['failure_retrospective block'] : [],
    );
  });

  it('asks for nothing that is off', () => {
    const task = aTask({ priority: 'high', attempt: { ...attempt, result: 'failed' } });
    expect(unmet(task, [aCeremony({ enforcementMode: 'block' })], modes('off', 'off'))).toEqual([]);
    expect(unmet(task, [], modes('warn', 'off'))).toEqual(['design_review warn']);
  });

  it('asks for a pending one whatever the task, in the stricter mode', () => {
    expect(unmet(aTask(), [aCeremony()], modes('block'))).toEqual(['design_review block']);
    expect(unmet(aTask(), [aCeremony({ enforcementMode: 'block' })], modes('warn'))).toEqual(['design_review block']);
    expect(unmet(aTask(), [aCeremony()], modes('warn'))).toEqual(['design_review warn']);
    const other = aTask({ type: 'research' });
    expect(unmet(other, [aCeremony()], modes('block'))).toEqual(['design_review block']);
    expect(unmet(other, [aCeremony({ status: 'cancelled' })], modes('block'))).toEqual([]);
  });

  it('takes no ceremony of one kind for one of another', () => {
    const task = aTask({ type: 'research', attempt: { ...attempt, result: 'failed' } });
    expect(unmet(task, [aCeremony()], modes('off', 'block'))).toEqual(['failure_retrospective block']);
  });

  it('names the kinds that are enforced and that a task itself needs', () => {
    const failed = aTask({ type: 'code', attempt: { ...attempt, result: 'failed' } });
    expect(neededKinds(failed, modes('warn', 'block'))).toEqual(['design_review', 'failure_retrospective']);
    expect(neededKinds(failed, modes('off', 'block'))).toEqual(['failure_retrospective']);
    expect(neededKinds(aTask({ type: 'research' }), modes('block', 'block'))).toEqual([]);
    expect([modes('off', 'off'), modes('warn', 'off'), modes('off', 'block')].map(isEnforced)).toEqual([
      false,
      true,
      true,
    ]);
  });

  it('is content with a design review that was completed', () => {
    const task = aTask({ priority: 'high' });
    expect(unmet(task, [aCeremony({ status: 'completed' })])).toEqual([]);
    expect(unmet(task, [aCeremony({ status: 'cancelled' })])).toEqual(['design_review block']);
  });

  it('is content with a retrospective of the last attempt only', () => {
    const task = aTask({ type: 'research', attempt: { ...attempt, result: 'failed' } });
    const held = (fields: Partial<Ceremony>) =>
      aCeremony({ kind: 'failure_retrospective', status: 'completed', completedAt: at(6), ...fields });
    expect(unmet(task, [held({})])).toEqual([]);
    expect(unmet(task, [held({ completedAt: at(4) })])).toEqual(['failure_retrospective block']);
    expect(unmet(task, [held({ target: { taskId: aTask().id, runId: attempt.id }, completedAt: at(4) })])).toEqual([]);
    expect(unmet(task, [held({ target: { taskId: aTask().id, runId: 'attempt_another1' } })])).toEqual([
      'failure_retrospective block',
    ]);
  });

  it('opens one ceremony for an occasion', () => {
    const idFor = (id: string) =>
      unmetCeremonies(aTask({ attempt: { ...attempt, id, result: 'failed' } }), {
        held: [],
        enforcement: modes('off', 'block'),
        now,
      })[0]!.ceremony.id;
    expect(idFor(attempt.id)).toMatch(/^ceremony_[0-9a-f]{12}$/);
    expect(idFor(attempt.id)).toBe(idFor(attempt.id));
    expect(idFor('attempt_another1')).not.toBe(idFor(attempt.id));
  });
});
