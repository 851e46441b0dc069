import { attribute, checkpointIdOf } from './attribution';

const changed = (path: string, object: string | null) => ({ path, status: 'modified' as const, object });

describe('change attribution', () => {
  test('a change is the agent’s when the agent reported it and the file is as reported', () => {
    const reported = new Map([
      ['told', 'x'],
      ['told-and-changed', 'x'],
      ['deleted', null],
      ['unread', undefined],
    ]);
    const changes = [
      changed('told', 'x'),
      changed('told-and-changed', 'y'),
      changed('deleted', null),
      changed('unread', 'x'),
      changed('untold', 'x'),
    ];
    expect(
      attribute(changes, reported).map(({ path, attribution, conflict }) => [path, attribution, conflict]),
    ).toEqual([
      ['told', 'agent', false],
      ['told-and-changed', 'unknown', true],
      ['deleted', 'agent', false],
      ['unread', 'unknown', true],
      ['untold', 'unknown', false],
    ]);
  });

  test('ids follow from attempt and number', () => {
    expect(checkpointIdOf('attempt_ab12cd34', 3)).toBe('checkpoint_ab12cd34_3');
  });
});
