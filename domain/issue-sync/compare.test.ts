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
