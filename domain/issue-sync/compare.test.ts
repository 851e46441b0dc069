import type { ForgeIssue } from '../../contracts/integrations/forge';
import type { IssueSyncMode } from '../../contracts/integrations/issue-sync';
import type { Task } from '../../contracts/tasks/task';
import { aTask } from '../../test/support/factories/task';
import { isTaskUnchanged, nextBase, planSync } from './compare';

const anIssue = (fields: Partial<ForgeIssue> = {}): ForgeIssue => ({
  number: 7,
  url: 'https://github.example/acme/shop/issues/7',
  title: 'One',
  body: 'Text',
  state: 'open',
  labels: [],
  author: 'mona',
  updatedAt: '2026-01-01T00:00:00.000Z',
  ...fields,
});
const aPair = (title = 'One', description = 'Text', status: Task['status'] = 'todo') =>
  aTask({ title, description, status });

const equalBase = nextBase(
  { issue: anIssue(), task: aPair() },
  { plan: planSync({ issue: anIssue(), task: aPair(), base: undefined, mode: 'bidirectional' }) },
);
const plan = (issue: ForgeIssue, task: Task, mode: IssueSyncMode = 'bidirectional') =>
  planSync({ issue, task, base: equalBase, mode });

describe('an issue and its task', () => {
  it('need nothing while they are equal, whatever else changes in the task', () => {
    const nothing = { task: {}, issue: {}, conflicts: [], bodyTooLong: false };
    expect(plan(anIssue(), aPair())).toEqual(nothing);
    expect(plan(anIssue(), { ...aPair(), status: 'in-progress', position: 3 })).toEqual(nothing);
    expect(plan(anIssue({ body: 'Text\r\n' }), aPair())).toEqual(nothing);
  });

  it.each<[IssueSyncMode, boolean, boolean]>([
    ['inbound', true, false],
    ['outbound', false, true],
    ['bidirectional', true, true],
  ])('carry changes of one side as the mode %s allows', (mode, inbound, outbound) => {
    const closed = anIssue({ title: 'Two', body: 'More', state: 'closed' });
    expect(plan(closed, aPair(), mode).task).toEqual(
      inbound ? { title: 'Two', description: 'More', status: 'done' } : {},
    );
    const done = aPair('Two', 'More', 'done');
    expect(plan(anIssue(), done, mode).issue).toEqual(outbound ? { title: 'Two', body: 'More', state: 'closed' } : {});
    expect(plan(closed, done, mode)).toMatchObject({ task: {}, issue: {}, conflicts: [] });
  });

  it('merge changes of different fields', () => {
    const merged = plan(anIssue({ title: 'Two' }), aPair('One', 'More'));
    expect(merged).toMatchObject({ task: { title: 'Two' }, issue: { body: 'More' }, conflicts: [] });
  });

  it('keep the value of the issue where both changed a field, unless issues are only written to', () => {
    const [issue, task] = [anIssue({ title: 'Theirs' }), aPair('Ours')];
    expect(plan(issue, task)).toMatchObject({ task: { title: 'Theirs' }, issue: {}, conflicts: ['title'] });
    expect(plan(issue, task, 'inbound')).toMatchObject({ task: { title: 'Theirs' }, conflicts: ['title'] });
    expect(plan(issue, task, 'outbound')).toMatchObject({ task: {}, issue: { title: 'Ours' }, conflicts: ['title'] });
  });

  it('open a task again whose issue is opened again', () => {
    const base = nextBase(
      { issue: anIssue({ state: 'closed' }), task: aPair('One', 'Text', 'done') },
      { plan: { task: { status: 'done' }, issue: {}, conflicts: [], bodyTooLong: false }, base: equalBase },
    );
    const reopened = planSync({ issue: anIssue(), task: aPair('One', 'Text', 'done'), base, mode: 'inbound' });
    expect(reopened.task).toEqual({ status: 'todo' });
  });

  it('never write a description to an issue with more text than a task can have', () => {
    const long = anIssue({ body: 'x'.repeat(200_000) });
    const first = planSync({ issue: long, task: aPair(), base: undefined, mode: 'bidirectional' });
    const imported = { ...aPair(), description: first.task.description ?? '' };
    const base = nextBase({ issue: long, task: imported }, { plan: first });
    const edited = planSync({
      issue: long,
      task: { ...imported, description: 'Short', title: 'Two' },
      base,
      mode: 'bidirectional',
    });
    expect(edited).toMatchObject({ issue: { title: 'Two' }, bodyTooLong: true });
    expect(edited.issue).not.toHaveProperty('body');
  });

  it('take labels when they change, and not again after a person has decided otherwise', () => {
    const issue = anIssue({ labels: ['priority: high'] });
    const first = plan(issue, aPair());
    expect(first.task).toEqual({ priority: 'high' });
    const base = nextBase({ issue, task: { ...aPair(), priority: 'high' } }, { plan: first, base: equalBase });
    expect(planSync({ issue, task: { ...aPair(), priority: 'low' }, base, mode: 'inbound' }).task).toEqual({});
    expect(plan(issue, aPair(), 'outbound').task).toEqual({});
  });

  it('write labels of fields that the task has changed, in the spelling of the issue, and no others', () => {
    const issue = anIssue({ labels: ['Priority/high', 'help wanted', 'priority: urgent'] });
    const first = plan(issue, aPair());
    const [high, low] = [
      { ...aPair(), priority: 'high' as const },
      { ...aPair(), priority: 'low' as const, type: 'docs' },
    ];
    const base = nextBase({ issue, task: high }, { plan: first, base: equalBase });
    const changed = planSync({ issue, task: low, base, mode: 'bidirectional' });
    expect(changed).toMatchObject({ task: {}, conflicts: [] });
    expect(changed.labels).toEqual({
      fields: ['type', 'priority'],
      add: ['type: docs', 'Priority/low'],
      remove: ['Priority/high'],
    });
    expect(isTaskUnchanged(low, base)).toBe(false);
    expect(planSync({ issue, task: low, base, mode: 'inbound' }).labels).toBeUndefined();
    const filtered = planSync({ issue, task: low, base, mode: 'outbound', filter: ['priority/high'] });
    expect(filtered.labels).toEqual({ fields: ['type'], add: ['type: docs'], remove: [] });
    const written = anIssue({ labels: ['help wanted', 'priority: urgent', 'type: docs', 'Priority/low'] });
    const after = nextBase({ issue: written, task: low }, { plan: changed, base });
    expect(planSync({ issue: written, task: low, base: after, mode: 'bidirectional' }).labels).toBeUndefined();
    const removed = planSync({ issue: anIssue(), task: low, base: after, mode: 'bidirectional' });
    expect(removed).toMatchObject({ task: {}, issue: {}, conflicts: [] });
    expect(removed.labels).toBeUndefined();
  });

  it('write no label for a default of a task, nor for pairs that were compared before labels were written', () => {
    const pair = { issue: anIssue(), mode: 'outbound' as const };
    expect(planSync({ ...pair, task: aPair(), base: undefined }).labels).toBeUndefined();
    const { fields: _fields, ...earlier } = equalBase;
    expect(planSync({ ...pair, task: { ...aPair(), priority: 'high' }, base: earlier }).labels).toBeUndefined();
    const long = { ...aPair(), type: 'x'.repeat(50) };
    expect(planSync({ ...pair, task: long, base: equalBase }).labels).toBeUndefined();
  });

  it('keep the label of the issue where both changed it, unless issues are only written to', () => {
    const [issue, task] = [anIssue({ labels: ['priority: critical'] }), { ...aPair(), priority: 'low' as const }];
    expect(plan(issue, task)).toMatchObject({ task: { priority: 'critical' }, conflicts: ['priority'] });
    expect(plan(issue, task, 'outbound')).toMatchObject({
      task: {},
      labels: { add: ['priority: low'], remove: ['priority: critical'] },
      conflicts: ['priority'],
    });
  });

  it('keep the base of a field that the mode does not carry, so that another mode does', () => {
    const [issue, task] = [anIssue({ body: 'More' }), aPair('Ours')];
    const inbound = plan(issue, task, 'inbound');
    const base = nextBase({ issue, task: { ...task, description: 'More' } }, { plan: inbound, base: equalBase });
    const after = planSync({ issue, task: { ...task, description: 'More' }, base, mode: 'bidirectional' });
    expect(after).toMatchObject({ task: {}, issue: { title: 'Ours' } });
    expect(isTaskUnchanged({ ...task, description: 'More' }, base)).toBe(false);
    expect(isTaskUnchanged(aPair(), equalBase)).toBe(true);
  });
});
