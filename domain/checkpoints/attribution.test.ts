import { attribute, checkpointIdOf } from './attribution';

const changed = (path: string, object: string | null) => ({ path, status: 'modified' as const, object });

describe('change attribution', () => {
  test('a change is the agent’s when the agent reported it and the file is as reported', () => {
    const reported = new Map([
      ['reported', 'x'],
      ['reported-and-changed', 'x'],
      ['deleted', null],
      ['unread', undefined],
    ]);
    const changes = [
      changed('reported', 'x'),
      changed('reported-and-changed', 'y'),
      changed('deleted', null),
      changed('unread', 'x'),
      changed('unreported', 'x'),
    ];
    expect(
      attribute(changes, reported).map(({ path, attribution, conflict }) => [path, attribution, conflict]),
    ).toEqual([
      ['reported', 'agent', false],
      ['reported-and-changed', 'unknown', true],
      ['deleted', 'agent', false],
      ['unread', 'unknown', true],
      ['unreported', 'unknown', false],
    ]);
  });

  test('ids follow from attempt and number', () => {
    expect(checkpointIdOf('attempt_ab12cd34', 3)).toBe('checkpoint_ab12cd34_3');
  });
});
